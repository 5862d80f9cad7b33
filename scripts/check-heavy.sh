#!/bin/sh
# The checks that take long or need more than the stable toolchain:
#
#   loom   every interleaving of a few threads' accesses to the transposition table
#   miri   the table's unsafe code and its stress tests under the interpreter (nightly, component
#          miri); processor instructions and the mapped memory are replaced there, see
#          crates/pn-search/src/table/{cell,memory}.rs
#   tsan   the tests of parallel searches under ThreadSanitizer (nightly, component rust-src, which
#          builds the standard library with it)
#   fuzz   the fuzz targets build and each runs for a while
#   slow   all tests without debug assertions, which also makes their random trials more, and those
#          that are ignored otherwise
#   attack the program against damaged and forged files, kills, signals, several writers, things that
#          are no files, little memory and disk, odd positions and texts (tools/attack)
#
# usage: scripts/check-heavy.sh [loom] [miri] [tsan] [fuzz] [slow] [attack]      (default: all)
#
# What is not installed is skipped, and the last line says so. FUZZ_SECONDS (default 10) is the
# time for each fuzz target, ATTACK_SECONDS (default 60) that for each kind of attack. Builds go to
# subdirectories of $CARGO_TARGET_DIR (default: target), because the flags differ.

set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
skipped=

heading() { printf '\n== %s\n' "$1"; }
skip() {
    printf 'SKIPPED: %s\n' "$1"
    skipped="$skipped $2"
}

run_loom() {
    heading "loom: the table's protocol"
    RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR="$target/loom" \
        cargo test -p pn-search --lib loom
}

run_miri() {
    heading "miri: the table"
    if ! cargo +nightly miri --version >/dev/null 2>&1; then
        skip "no miri: rustup component add miri rust-src --toolchain nightly" miri
        return
    fi
    # The tests read the clock, hence no isolation.
    MIRIFLAGS="${MIRIFLAGS:-} -Zmiri-disable-isolation" PROPTEST_CASES=3 \
        CARGO_TARGET_DIR="$target/miri" \
        sh -c 'cargo +nightly miri test -p pn-search --lib table:: && cargo +nightly miri test --test search table::'
}

run_tsan() {
    heading "tsan: the parallel searches"
    library=$(rustc +nightly --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library
    if [ ! -f "$library/Cargo.toml" ]; then
        skip "no sources of the standard library: rustup toolchain install nightly --component rust-src" tsan
        return
    fi
    host=$(rustc +nightly -vV | sed -n 's/^host: //p')
    # Some tests ask for more memory than there is and expect a refusal. Random tests are slow here.
    TSAN_OPTIONS="${TSAN_OPTIONS:-} allocator_may_return_null=1" PROPTEST_CASES="${PROPTEST_CASES:-3}" \
        RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=thread" CARGO_TARGET_DIR="$target/tsan" \
        cargo +nightly test -Zbuild-std --target "$host" -p pn-search --lib -- \
        dfpn jobs pn2::parallel run sums::two_level table two_level
}

run_fuzz() {
    heading "fuzz: every target"
    if [ ! -f fuzz/Cargo.toml ]; then
        skip "no fuzz targets in this tree" fuzz
        return
    fi
    if cargo +nightly fuzz --version >/dev/null 2>&1; then
        for name in $(cargo +nightly fuzz list); do
            CARGO_TARGET_DIR="$target/fuzz" cargo +nightly fuzz run "$name" -- \
                "-max_total_time=${FUZZ_SECONDS:-10}"
        done
    else
        # Without its driver the targets still have to compile.
        CARGO_TARGET_DIR="$target/fuzz" cargo check --manifest-path fuzz/Cargo.toml --bins
        skip "the targets compile, but were not run: cargo install cargo-fuzz" fuzz-runs
    fi
}

run_slow() {
    heading "slow: all tests as a release build, with those that are ignored otherwise"
    # Without link-time optimization, which would take longer than the tests.
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        CARGO_TARGET_DIR="$target/slow" cargo test --release -- --include-ignored
}

run_attack() {
    heading "attack: the program against everything else"
    cargo test -p konane-attack
    cargo build --release
    cargo run --release -p konane-attack -- --program "$target/release/konane" \
        --seconds "${ATTACK_SECONDS:-60}"
}

for check in ${*:-loom miri tsan fuzz slow attack}; do
    case $check in
        loom | miri | tsan | fuzz | slow | attack) "run_$check" ;;
        *)
            echo "unknown check: $check (loom, miri, tsan, fuzz, slow or attack)" >&2
            exit 2
            ;;
    esac
done

heading "done; skipped:${skipped:- nothing}"
