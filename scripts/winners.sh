#!/usr/bin/env bash
# Finds the winner of every board that a search with a limit solves, and writes docs/winners.md,
# docs/benchmarks/winners.svg and docs/benchmarks/winners.csv.
#
# usage: scripts/winners.sh [--list] [--no-report]
#
#   --list       print the command lines that would run, and stop
#   --no-report  only search
#
#   TIME_LIMIT   limit of each search (default 20m)
#   MAX_NODES    limit of each search in nodes (default none); several numbers are limits of one
#                pass over all boards each, so that what is easy comes first
#   MAX_SQUARES  boards of up to this many squares (default and most: 64)
#   ALGO         algorithm (default dfpn)
#   THREADS      threads (default 1)
#   MEMORY       memory of each search (default 2GiB)
#   RESULTS      raw results, one JSON object a line (default docs/benchmarks/winners.jsonl)
#
# RxF and FxR are the same game, turned over the diagonal, so of both only the one with fewer ranks
# is searched. Smaller boards come first.
#
# Interrupt it at any time: the next call goes on where this one stopped. A board with a winner in
# the results is not searched again. One without is tried again by another command line, another
# program (`konane bench`) or processor, or with more of what it ran out of: nodes or time.
#
# Needs bash 5, the Rust toolchain and coreutils; with GNU time memory and processor time are
# recorded too.

set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
source scripts/measure.sh

time_limit=${TIME_LIMIT:-20m}
read -ra passes <<<"${MAX_NODES:-null}"
max_squares=${MAX_SQUARES:-64}
list=false report=true
for option in "$@"; do
    case $option in
        --list) list=true ;;
        --no-report) report=false ;;
        *)
            printf 'unknown option: %s (--list or --no-report)\n' "$option" >&2
            exit 2
            ;;
    esac
done

# in_seconds NAME TIME: 90s, 20m, 2h as a number of seconds.
in_seconds() {
    if [[ ! $2 =~ ^([1-9][0-9]*)(s|m|h)$ ]]; then
        printf '%s=%s: write a whole number and s, m or h, such as 20m\n' "$1" "$2" >&2
        return 2
    fi
    case ${BASH_REMATCH[2]} in
        s) echo "${BASH_REMATCH[1]}" ;;
        m) echo $((BASH_REMATCH[1] * 60)) ;;
        h) echo $((BASH_REMATCH[1] * 3600)) ;;
    esac
}

seconds=$(in_seconds TIME_LIMIT "$time_limit")
for max_nodes in "${passes[@]}"; do
    if [[ ! $max_nodes =~ ^([1-9][0-9]*|null)$ ]]; then
        printf 'MAX_NODES=%s: write numbers from 1\n' "$MAX_NODES" >&2
        exit 2
    fi
done
if [[ ! $max_squares =~ ^[1-9][0-9]*$ || $max_squares -gt 64 ]]; then
    printf 'MAX_SQUARES=%s: write a number from 1 to 64\n' "$max_squares" >&2
    exit 2
fi

# Boards with no more ranks than files, by squares and then by ranks.
boards=()
for ((squares = 1; squares <= max_squares; squares++)); do
    for ((ranks = 1; ranks * ranks <= squares; ranks++)); do
        if ((squares % ranks == 0)); then
            boards+=("${ranks}x$((squares / ranks))")
        fi
    done
done

# args BOARD: the search.
args() {
    printf 'solve %s --algo %s --threads %s --memory %s' \
        "$1" "${ALGO:-dfpn}" "${THREADS:-1}" "${MEMORY:-2GiB}"
}

if $list; then
    for max_nodes in "${passes[@]}"; do
        for board in "${boards[@]}"; do
            printf 'konane %s --time-limit %s' "$(args "$board")" "$time_limit"
            if [[ $max_nodes != null ]]; then
                printf ' --max-nodes %s' "$max_nodes"
            fi
            printf ' --json\n'
        done
    done
    exit
fi

prepare
keep_in "${RESULTS:-docs/benchmarks/winners.jsonl}"

# A field of a record with a number or text.
field() {
    grep -o "\"$2\":[^,]*" <<<"$1" | head -n 1 | sed 's/^[^:]*://; s/"//g' || true
}

# Whether a search of a board with $seconds and $max_nodes would tell nothing new.
settled() {
    local line
    local board
    for board in "$1" "${1#*x}x${1%x*}"; do
        if [[ -n $(lines_with "\"result\":{\"board\":\"$board\"," |
            grep -E '"outcome":"(black|white)"' || true) ]]; then
            return 0
        fi
    done
    while read -r line; do
        case $(field "$line" reason) in
            'node limit')
                if [[ $max_nodes != null && $max_nodes -le $(field "$line" max_nodes) ]]; then
                    return 0
                fi
                ;;
            'time limit')
                if [[ $seconds -le $(in_seconds recorded "$(field "$line" time_limit)") ]]; then
                    return 0
                fi
                ;;
        esac
    done < <(lines_with "$(key "$(args "$1")"),")
    return 1
}

for max_nodes in "${passes[@]}"; do
    for board in "${boards[@]}"; do
        if ! settled "$board"; then
            measure "$(args "$board")" 1 "\"$time_limit\"" "$max_nodes"
        fi
    done
done

if $report; then
    cargo run --release --quiet --example report_benchmarks -- winners "$results" docs
fi
