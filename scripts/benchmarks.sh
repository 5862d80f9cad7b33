#!/usr/bin/env bash
# Measures the program and writes docs/benchmarks.md and docs/benchmarks/scaling.md with their
# figures and tables (*.svg, *.csv).
#
# usage: scripts/benchmarks.sh [--quick | --scaling] [--again] [--list] [--no-report]
#
#   --quick      boards of up to 6x6 with the tuned parameters only: about a minute
#   --scaling    only the searches on several threads: less than five minutes on an idle machine
#   --again      drop this machine's earlier runs of the chosen command lines and measure anew
#   --list       print the command lines that would run, and stop
#   --no-report  only measure
#
#   RUNS          repetitions of the short runs (default 3); the long ones run once
#   SCALING_RUNS  repetitions of the runs on several threads (default 5)
#   TIME_LIMIT    limit of each long run (default 2h); one that reaches it is reported as unfinished
#   RESULTS       raw results, one JSON object a line (default docs/benchmarks/results.jsonl)
#   SCALING       those of the runs on several threads (default docs/benchmarks/scaling.jsonl)
#
# Interrupt it at any time: the next call goes on where this one stopped. A run is skipped if its
# result is there already, from the same kind of processor and a program with the same signature
# (`konane bench`); only an unfinished one is tried again when TIME_LIMIT has changed. The signature
# sees changed node counts on one thread, not changed speed: after work on speed or on what threads
# do, use --again.
#
# Needs bash 5, the Rust toolchain and coreutils; with GNU time memory and processor time are
# recorded too. Close other programs first: the load average before each run is recorded.

set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
source scripts/measure.sh

runs=${RUNS:-3}
scaling_runs=${SCALING_RUNS:-5}
time_limit=${TIME_LIMIT:-2h}
# Which parts run: the short, the long and those on several threads.
small=true large=true threads=true
again=false list=false report=true
for option in "$@"; do
    case $option in
        --quick) large=false threads=false ;;
        --scaling) small=false large=false ;;
        --again) again=true ;;
        --list) list=true ;;
        --no-report) report=false ;;
        *)
            printf 'unknown option: %s (--quick, --scaling, --again, --list or --no-report)\n' \
                "$option" >&2
            exit 2
            ;;
    esac
done
if ! $small && ! $threads; then
    printf -- '--quick and --scaling leave nothing to run: choose one\n' >&2
    exit 2
fi
if [[ ! $runs =~ ^[1-9][0-9]*$ || ! $scaling_runs =~ ^[1-9][0-9]*$ ]]; then
    printf 'RUNS=%s, SCALING_RUNS=%s: write numbers from 1\n' "$runs" "$scaling_runs" >&2
    exit 2
fi

# ---- what is measured -------------------------------------------------------------------------

# Arguments of the program. `short` ones run RUNS times, in rounds, so that a busy minute spoils
# one run of each rather than all runs of one; `long` ones run once, with TIME_LIMIT; `scaling` ones
# run SCALING_RUNS times, in rounds too.
short=() long=() scaling=()
one_thread='--threads 1'

if $small; then
    for depth in 10 11 12; do
        short+=("perft 8x8 $depth $one_thread")
    done
    short+=("perft 5x5 10 --unique $one_thread" "perft 5x5 10 --unique --no-symmetry $one_thread")
    for board in 1x1 2x2 3x3; do
        short+=("solve $board --algo pn2 $one_thread --memory 1GiB")
    done
    for board in 4x4 5x5 5x6 6x6; do
        for algorithm in dfpn pns pn2 ab; do
            short+=("solve $board --algo $algorithm $one_thread --memory 1GiB")
        done
    done
fi
if $large; then
    short+=("solve 7x7 --algo dfpn $one_thread --memory 512MiB")
    for board in 6x7 7x6 5x8 5x9; do
        short+=("solve $board --algo dfpn $one_thread --memory 1GiB")
    done
    for algorithm in dfpn pns pn2; do
        short+=("solve 6x6 --algo $algorithm --profile thesis $one_thread --memory 4GiB")
    done
    long+=(
        "solve 7x7 --algo pns $one_thread --memory 4GiB"
        "solve 7x7 --algo pn2 $one_thread --memory 4GiB"
        "solve 6x6 --algo ab --profile thesis $one_thread --memory 4GiB"
    )
fi

# Table 4.3 has 1 to 12 threads on 6x6; the profile `thesis` runs what was published.
scaling_boards=(6x6 7x6 7x7)
scaling_threads=(1 2 4 8 12 16)
scaling_algorithms=(dfpn pn2)
if $threads; then
    for algorithm in "${scaling_algorithms[@]}"; do
        for count in "${scaling_threads[@]}"; do
            search="--algo $algorithm --threads $count --memory 1GiB"
            for board in "${scaling_boards[@]}"; do
                scaling+=("solve $board $search")
            done
            scaling+=("solve 6x6 $search --profile thesis")
        done
    done
fi

if $list; then
    for args in "${short[@]}" "${scaling[@]}"; do
        printf 'konane %s --json\n' "$args"
    done
    for args in "${long[@]}"; do
        printf 'konane %s --time-limit %s --json\n' "$args" "$time_limit"
    done
    exit
fi

# ---- measuring --------------------------------------------------------------------------------

# rounds RUNS ARGS...: each of the command lines so many times.
rounds() {
    local run args count=$1
    shift
    for ((run = 1; run <= count; run++)); do
        for args in "$@"; do
            measure "$args" "$run" null null
        done
    done
}

# report KIND: what the results so far say.
report() {
    if $report; then
        cargo run --release --quiet --example report_benchmarks -- "$1" "$results" docs
    fi
}

prepare

if $small; then
    keep_in "${RESULTS:-docs/benchmarks/results.jsonl}"
    if $again; then
        for args in "${short[@]}" "${long[@]}"; do
            forget "$args"
        done
    fi
    rounds "$runs" "${short[@]}"
    for args in "${long[@]}"; do
        measure "$args" 1 "\"$time_limit\"" null
    done
    report algorithms
fi

if $threads; then
    keep_in "${SCALING:-docs/benchmarks/scaling.jsonl}"
    # An algorithm that searches on one thread only has nothing to scale.
    for algorithm in "${scaling_algorithms[@]}"; do
        if ! understands "solve 2x2 --algo $algorithm --threads 2"; then
            printf '%s searches on one thread only: left out\n' "$algorithm" >&2
            kept=()
            for args in "${scaling[@]}"; do
                if [[ $args != *" --algo $algorithm "* ]]; then
                    kept+=("$args")
                fi
            done
            scaling=("${kept[@]}")
        fi
    done
    if $again; then
        for args in "${scaling[@]}"; do
            forget "$args"
        done
    fi
    rounds "$scaling_runs" "${scaling[@]}"
    report scaling
fi
