#!/usr/bin/env bash
# Measures the program and writes docs/benchmarks.md and docs/benchmarks/algorithms.svg.
#
# usage: scripts/benchmarks.sh [--quick] [--again] [--list] [--no-report]
#
#   --quick      boards of up to 6x6 with the tuned parameters only: about a minute
#   --again      drop this machine's earlier runs of the chosen command lines and measure anew
#   --list       print the command lines that would run, and stop
#   --no-report  only measure
#
#   RUNS         repetitions of the short runs (default 3); the long ones run once
#   TIME_LIMIT   limit of each long run (default 2h); one that reaches it is reported as unfinished
#   RESULTS      raw results, one JSON object a line (default docs/benchmarks/results.jsonl)
#
# Interrupt it at any time: the next call goes on where this one stopped. A run is skipped if its
# result is there already, from the same kind of processor and a program with the same signature
# (`konane bench`); only an unfinished one is tried again when TIME_LIMIT has changed. The signature
# sees changed node counts, not changed speed: after work on speed alone, use --again.
#
# Needs bash 5, the Rust toolchain and coreutils; with GNU time the peak memory is recorded too.
# Close other programs first: the load average before each run is recorded.

set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

runs=${RUNS:-3}
time_limit=${TIME_LIMIT:-2h}
results=${RESULTS:-docs/benchmarks/results.jsonl}
quick=false again=false list=false report=true
for option in "$@"; do
    case $option in
        --quick) quick=true ;;
        --again) again=true ;;
        --list) list=true ;;
        --no-report) report=false ;;
        *)
            printf 'unknown option: %s (--quick, --again, --list or --no-report)\n' "$option" >&2
            exit 2
            ;;
    esac
done
if [[ ! $runs =~ ^[1-9][0-9]*$ ]]; then
    printf 'RUNS=%s: write a number from 1\n' "$runs" >&2
    exit 2
fi

# ---- what is measured -------------------------------------------------------------------------

# Arguments of the program. `short` ones run RUNS times, in rounds, so that a busy minute spoils
# one run of each rather than all runs of one; `long` ones run once, with TIME_LIMIT.
short=() long=()
one_thread='--threads 1'

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
if ! $quick; then
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

if $list; then
    printf 'konane %s --json\n' "${short[@]}"
    for args in "${long[@]}"; do
        printf 'konane %s --time-limit %s --json\n' "$args" "$time_limit"
    done
    exit
fi

# ---- the program and the machine --------------------------------------------------------------

cargo build --release
target=${CARGO_TARGET_DIR:-target}
konane=$target/release/konane

# A text as it may stand between the quotes of a JSON string.
plain() {
    tr -d '\\"[:cntrl:]' <<<"$1"
}

processor() {
    local model=''
    if [[ -r /proc/cpuinfo ]]; then
        model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
    fi
    if [[ -z $model ]]; then
        model=$(sysctl -n machdep.cpu.brand_string 2>/dev/null || uname -m)
    fi
    plain "$model"
}

commit() {
    local name
    name=$(git rev-parse --short=12 HEAD 2>/dev/null) || { echo unknown; return; }
    # What this script writes does not change the program.
    if [[ -n $(git status --porcelain -- . ':!docs') ]]; then
        name+=-changed
    fi
    echo "$name"
}

# The load average of the last minute.
load() {
    if [[ -r /proc/loadavg ]]; then
        cut -d ' ' -f 1 /proc/loadavg
    else
        uptime | sed -n 's/.*load average[s]*: *\([0-9.]*\).*/\1/p'
    fi
}

signature=$("$konane" bench --json | grep -o '"signature":[0-9]*' | grep -o '[0-9]*$')
cpu=$(processor)
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
commit=$(commit)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
timer=()
if gnu_time=$(type -P time) && [[ $("$gnu_time" --version 2>&1) == *GNU* ]]; then
    timer=("$gnu_time" --format=%M --output="$scratch/memory")
fi

# ---- measuring --------------------------------------------------------------------------------

mkdir -p "$(dirname "$results")"
touch "$results"

# What all records of these arguments by this program on this machine begin with.
key() {
    printf '{"args":"%s","signature":%s,"cpu":"%s"' "$1" "$signature" "$cpu"
}

# Lines of the results that hold the given text.
lines_with() {
    grep --fixed-strings -e "$1" "$results" || [[ $? -eq 1 ]]
}

# Whether there is a result of these arguments, run and limit, or a finished one of any limit.
known() {
    local line
    while read -r line; do
        if [[ $line != *'"outcome":"unknown"'* || $line == *"\"time_limit\":$3,"* ]]; then
            return 0
        fi
    done < <(lines_with "$(key "$1"),\"run\":$2,")
    return 1
}

forget() {
    grep --fixed-strings --invert-match -e "$(key "$1")," "$results" >"$scratch/kept" ||
        [[ $? -eq 1 ]]
    cat "$scratch/kept" >"$results"
}

# measure ARGS RUN LIMIT: runs the program once and appends the record. LIMIT is a JSON value.
measure() {
    local args=$1 run=$2 limit=$3 status=0 begin end wall memory=null command load_before
    if known "$args" "$run" "$limit"; then
        return
    fi
    read -ra command <<<"$args"
    if [[ $limit != null ]]; then
        command+=(--time-limit "${limit//\"/}")
    fi
    command+=(--json)
    printf 'run %s: konane %s\n' "$run" "${command[*]}" >&2
    load_before=$(load)
    begin=${EPOCHREALTIME/./}
    "${timer[@]}" "$konane" "${command[@]}" >"$scratch/result" 2>"$scratch/messages" || status=$?
    end=${EPOCHREALTIME/./}
    # A limit that was reached (3) is a result; an interrupt or an error is none.
    if [[ $status -ne 0 && $status -ne 3 ]]; then
        cat "$scratch/messages" >&2
        printf 'konane ended with exit code %s; nothing was recorded\n' "$status" >&2
        exit "$status"
    fi
    printf -v wall '%d.%06d' $(((end - begin) / 1000000)) $(((end - begin) % 1000000))
    if [[ ${#timer[@]} -gt 0 ]]; then
        # The last line: a message about the exit code may stand before it. GNU time counts KiB.
        memory=$(($(tail -n 1 "$scratch/memory") * 1024))
    fi
    {
        key "$args"
        printf ',"run":%s,"time_limit":%s,"command":"konane %s","exit_code":%s,"wall_seconds":%s,' \
            "$run" "$limit" "${command[*]}" "$status" "$wall"
        printf '"peak_rss_bytes":%s,"load_before":%s,"date":"%s","commit":"%s","cores":%s,' \
            "$memory" "${load_before:-null}" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$commit" "$cores"
        printf '"result":%s}\n' "$(<"$scratch/result")"
    } >"$scratch/record"
    cat "$scratch/record" >>"$results"
}

if $again; then
    for args in "${short[@]}" "${long[@]}"; do
        forget "$args"
    done
fi
for ((run = 1; run <= runs; run++)); do
    for args in "${short[@]}"; do
        measure "$args" "$run" null
    done
done
for args in "${long[@]}"; do
    measure "$args" 1 "\"$time_limit\""
done

# ---- the report -------------------------------------------------------------------------------

if $report; then
    cargo run --release --quiet --example report_benchmarks -- "$results" docs
fi
