#!/usr/bin/env python3
"""Makes the files of a release, and tests them.

    xtask/release.py                    make all files in target/distrib
    xtask/release.py program crates     make these parts only
    xtask/release.py --test             install the files in empty folders and run the READMEs

`cargo xtask release ...` runs this script. The parts:

    program  a stripped binary with manual pages and completion scripts, as tar.gz
    python   a wheel for Python 3.11 and later, and the sources; `twine check`
    crates   `cargo publish --dry-run` of all crates, which also builds them
    book     the documents as a site, as tar.gz

SHA256SUMS has the checksums of all files. On Linux the wheel is linked by zig, if pip can install it, for every
distribution with glibc 2.17 (manylinux2014); otherwise for those with at least the glibc of this machine. The binary
needs at least the glibc of this machine.
"""

import argparse
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
VERSION = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
SHELLS = {
    "bash": "konane.bash",
    "elvish": "konane.elv",
    "fish": "konane.fish",
    "nushell": "konane.nu",
    "powershell": "_konane.ps1",
    "zsh": "_konane",
}
SUMS = "SHA256SUMS"
MDBOOK = "0.5.4"


def run(*command: str | Path, **options) -> None:
    """Runs a command and ends with a message if it fails."""
    print("$", *command, flush=True)
    try:
        subprocess.run(command, check=True, **{"cwd": ROOT, **options})
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: {error}")


def output(*command: str | Path, **options) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def environment(folder: Path, *packages: str | Path, **variables: str) -> Path:
    """Makes a virtual environment with packages and returns its folder of programs."""
    venv.create(folder, clear=True, with_pip=True)
    pip = [folder / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet"]
    if packages:
        run(*pip, *packages, env=os.environ | variables)
    return folder / "bin"


def archive(folder: Path, file: Path) -> None:
    """Writes a tar.gz whose bytes depend only on the files and the date of the commit."""
    date = int(output("git", "log", "-1", "--format=%ct", cwd=ROOT))

    def neutral(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = date
        return info

    with gzip.GzipFile(file, "wb", mtime=date) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(folder, folder.name, filter=neutral)
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def program(out: Path) -> None:
    run("cargo", "build", "--profile", "dist", "--locked", "--bin", "konane")
    konane = TARGET / "dist" / "konane"
    host = re.search("host: (.*)", output("rustc", "-vV"))[1]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, f"konane-{VERSION}-{host}")
        (folder / "completions").mkdir(parents=True)
        shutil.copy(konane, folder)
        for name in ("README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff"):
            shutil.copy(ROOT / name, folder)
        run(konane, "man", "--out", folder / "man" / "man1")
        for shell, name in SHELLS.items():
            (folder / "completions" / name).write_text(output(konane, "completions", shell))
        archive(folder, out / f"{folder.name}.tar.gz")


def python(out: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        tools = environment(Path(scratch), "maturin>=1.16,<2", "twine>=6")
        zig = []
        if sys.platform == "linux":
            installed = subprocess.run([tools / "pip", "install", "--quiet", "ziglang"]).returncode == 0
            if installed:
                zig = ["--zig", "--compatibility", "manylinux2014"]
        variables = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
        for old in out.glob("konane-*.whl"):
            old.unlink()
        command = [tools / "maturin", "build", "--profile", "dist", "--locked", "--sdist", "--out", out, *zig]
        run(*command, cwd=ROOT / "python", env=variables)
        run(tools / "twine", "check", "--strict", *out.glob("konane-*.whl"), sdist(out))


def sdist(out: Path) -> Path:
    return out / f"konane-{VERSION}.tar.gz"


def crates(_: Path) -> None:
    names = ("pn-search", "proof-check", "konane-base", "konane-cgt", "konane-sprouts", "konane", "konane-cli")
    packages = [argument for name in names for argument in ("-p", name)]
    run("cargo", "publish", "--dry-run", "--locked", *packages)


def book(out: Path) -> None:
    mdbook = shutil.which("mdbook") or TARGET / "mdbook" / "bin" / "mdbook"
    if not Path(mdbook).exists():
        folders = ("--root", TARGET / "mdbook", "--target-dir", TARGET / "mdbook" / "target")
        run("cargo", "install", "--quiet", "--locked", "--no-default-features", *folders, f"mdbook@{MDBOOK}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, f"konane-{VERSION}-book")
        run(mdbook, "build", "--dest-dir", folder)
        archive(folder, out / f"{folder.name}.tar.gz")


def checksums(out: Path) -> str:
    """Returns the checksums of all files, as `sha256sum` writes them."""
    files = sorted(path for path in out.iterdir() if path.name != SUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def test_program(file: Path) -> None:
    """Runs the commands of the README with the program of an archive, in an empty folder."""
    times = re.compile(r"( *[0-9][0-9.,]* (ms|s|min|h|([kMGT] )?nodes/s)\b)+")
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(file) as tar:
            tar.extractall(scratch, filter="data")
        [folder] = Path(scratch).iterdir()
        work = Path(scratch, "work")
        work.mkdir()
        assert len(list(folder.glob("man/man1/*.1"))) > 20 and len(list(folder.glob("completions/*"))) == len(SHELLS)
        blocks = re.findall(r"^```console\n(.*?)^```", (folder / "README.md").read_text(), re.MULTILINE | re.DOTALL)
        commands = 0
        for text in "".join(blocks).split("$ ")[1:]:
            command, *expected = text.replace("cargo run --release -- ", "konane ").splitlines()
            print("$", command, flush=True)
            variables = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
            done = subprocess.run(
                command, shell=True, cwd=work, env=variables, stdin=subprocess.DEVNULL, text=True, capture_output=True
            )
            if done.returncode != 0:
                sys.exit(f"error: exit code {done.returncode}: {done.stderr}")
            shown = [times.sub("", line) for line in done.stdout.splitlines()]
            missing = [line for line in expected if line != "..." and times.sub("", line) not in shown]
            if missing:
                sys.exit(f"error: the output of {command!r} lacks {missing[0]!r}")
            commands += 1
        assert commands > 1, "the README has commands"


def test_python(file: Path) -> None:
    """Runs the examples of the package's README with an installed wheel or the sources, in an empty folder."""
    with tempfile.TemporaryDirectory() as scratch:
        # The profile of the sources: a release build takes several minutes more.
        programs = environment(Path(scratch, "venv"), f"{file}[env]", MATURIN_PEP517_ARGS="--profile dev")
        work = Path(scratch, "work")
        work.mkdir()
        code = f"import doctest, sys; sys.exit(doctest.testfile({str(ROOT / 'python' / 'README.md')!r}, False)[0])"
        run(programs / "python", "-c", code, cwd=work)


def test(out: Path) -> None:
    if not (out / SUMS).exists() or (out / SUMS).read_text() != checksums(out):
        sys.exit(f"error: the files in {out} are not those of {SUMS}: make them again")
    for name in re.findall(r"  (.*)\n", checksums(out)):
        print(f"== {name}", flush=True)
        if name.endswith(".whl") or out / name == sdist(out):
            test_python(out / name)
        elif not name.endswith("-book.tar.gz"):
            test_program(out / name)


PARTS = {"program": program, "python": python, "crates": crates, "book": book}


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the files of a release, and tests them.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all by default")
    parser.add_argument("--out", type=Path, default=TARGET / "distrib", help="folder of the files (default: %(default)s)")
    parser.add_argument("--test", action="store_true", help="install the files and run the READMEs")
    arguments = parser.parse_args()
    out = arguments.out.absolute()
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"{unknown[0]!r} is not a part: choose from {', '.join(PARTS)}")
    if arguments.test:
        return test(out)
    manifests = ("python/Cargo.toml", "src/bin/konane/Cargo.toml", *sorted(ROOT.glob("crates/*/Cargo.toml")))
    for name in (*manifests, "CITATION.cff"):
        if not re.search(rf'^version(: | = "){re.escape(VERSION)}"?$', (ROOT / name).read_text(), re.MULTILINE):
            sys.exit(f"error: {name} has another version than Cargo.toml, {VERSION}")
    out.mkdir(parents=True, exist_ok=True)
    for name in arguments.parts or PARTS:
        print(f"== {name}", flush=True)
        PARTS[name](out)
    (out / SUMS).write_text(checksums(out))


if __name__ == "__main__":
    main()
