// Trace files: one JSON object a line, as `konane solve --trace FILE` writes them. Those of α-β have a depth in
// place of proof numbers.

/** The samples of a file. Throws an error that names the line. */
export function readTrace(text) {
  const samples = [];
  const lines = text.split(/\r?\n/);
  for (const [at, line] of lines.entries()) {
    if (!line.trim()) continue;
    let sample;
    try {
      sample = JSON.parse(line);
    } catch {
      // A search that was killed leaves half a line at the end.
      if (samples.length && at >= lines.length - 2) break;
      throw new Error(`Line ${at + 1} is no JSON. A trace is what konane solve --trace FILE writes.`);
    }
    if (typeof sample?.seconds !== "number" || !("pn" in sample || "depth" in sample)) {
      throw new Error(`Line ${at + 1} has no seconds, or neither a proof number (pn) nor a depth. `
        + "A trace is what konane solve --trace FILE writes.");
    }
    samples.push(sample);
  }
  if (!samples.length) throw new Error("The file is empty.");
  return samples;
}
