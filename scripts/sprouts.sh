#!/usr/bin/env bash
# Solves starts of Sprouts, compares them with the published outcomes, and writes
# docs/benchmarks/sprouts.md. Ends with 1 if an outcome differs.
#
# usage: scripts/sprouts.sh [--list] [FIRST [LAST]]      (default: 1 35)
#
#   --list      print the command lines that would run, and stop
#
#   TIME_LIMIT  limit of each search (default 20m)
#   THREADS     threads (default 2)
#   MEMORY      memory of each search (default 4GiB)
#   RESULTS     raw results, one JSON object a line (default docs/benchmarks/sprouts.jsonl)
#
# Interrupt it at any time: the next call goes on where this one stopped. A start with an outcome in
# the results is not searched again by the same program on the same kind of processor.
#
# Needs bash 5, the Rust toolchain, coreutils and awk; with GNU time memory and processor time are
# recorded too.

set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
source scripts/measure.sh

list=false
if [[ ${1:-} == --list ]]; then
    list=true
    shift
fi
first=${1:-1} last=${2:-35}
if [[ ! $first =~ ^[1-9][0-9]*$ || ! $last =~ ^[1-9][0-9]*$ ]]; then
    printf 'usage: scripts/sprouts.sh [--list] [FIRST [LAST]], with numbers of spots from 1\n' >&2
    exit 2
fi
options="--threads ${THREADS:-2} --memory ${MEMORY:-4GiB}"
published=tests/data/sprouts_outcomes.csv
results=${RESULTS:-docs/benchmarks/sprouts.jsonl}
report=docs/benchmarks/sprouts.md

if $list; then
    for ((spots = first; spots <= last; spots++)); do
        printf 'konane sprouts solve 0*%d %s --time-limit %s --json\n' \
            "$spots" "$options" "${TIME_LIMIT:-20m}"
    done
    exit
fi

prepare
# What tells programs apart: the iterations of a search on one thread.
signature=$("$konane" sprouts solve "0*12" --threads 1 --json |
    grep -o '"iterations":[0-9]*' | grep -o '[0-9]*$')
keep_in "$results"
for ((spots = first; spots <= last; spots++)); do
    measure "sprouts solve 0*$spots $options" 1 "\"${TIME_LIMIT:-20m}\"" null
done

# The newest record of each start that has an outcome, or else the newest, with the published outcome
# beside it.
awk -v FS=, '
    function field(name,   text) {
        text = $0
        if (!sub(".*\"" name "\":\"?", "", text)) return ""
        sub("[\",}].*", "", text)
        return text
    }
    FNR == NR { if ($1 ~ /^[0-9]+$/) outcome[$1] = $2; next }
    {
        spots = substr(field("position"), 3) + 0
        peak = field("peak_rss_bytes")
        reason = field("reason")
        if (spots > most) most = spots
        if (reason != "" && spots in solved) next
        if (reason == "") solved[spots] = 1
        memory = field("args")
        sub(".*--memory ", "", memory)
        row[spots] = sprintf("| %d | %s | %s | %s | %s | %s | %.2f | %s | %s | %s | %s |", spots,
            field("outcome") (reason == "" ? "" : " (" reason ")"), outcome[spots],
            field("iterations"), field("nodes"), field("grundy_numbers"), field("seconds"),
            peak == "null" ? "" : sprintf("%.0f", peak / 1048576), memory, field("threads"),
            field("load_before"))
        if (field("outcome") != "unknown" && outcome[spots] != "" &&
            field("outcome") != outcome[spots]) wrong = wrong " 0*" spots
    }
    END {
        print "# Starts of Sprouts\n"
        print "Made by `scripts/sprouts.sh` with `konane sprouts solve`; change the script, not this page."
        print "Published outcomes: Cizek, Balko and Schmid, *Massively Parallel Proof-Number Search for"
        print "Impartial Games and Beyond*, Table 2. The load is the average of the minute before. Of several runs"
        print "the last one that ended is shown; on several threads they differ by up to a factor of two.\n"
        print "| spots | outcome | published | iterations | nodes | Grundy numbers | seconds | peak MiB | `--memory` | threads | load |"
        print "|---|---|---|---|---|---|---|---|---|---|---|"
        for (spots = 1; spots <= most; spots++) if (spots in row) print row[spots]
        print (wrong == "" ? "\nAll outcomes agree." : "\nNOT AS PUBLISHED:" wrong)
        exit wrong != ""
    }' "$published" "$results" >"$report" || {
    tail -n 1 "$report" >&2
    exit 1
}
printf '%s\n' "$report"
