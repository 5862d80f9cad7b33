# Functions with which the other scripts here run the program and keep what it printed; to be
# sourced by bash from the repository's root with `set -euo pipefail`, not run.
#
#   prepare                                 build the program, look at the machine
#   keep_in RESULTS                         where the records are, from here on
#   measure ARGS RUN TIME_LIMIT MAX_NODES   run the program once and append a record
#   forget ARGS                             drop this program's and machine's records of ARGS
#   understands ARGS                        whether the program accepts these arguments
#
# RESULTS has one JSON object a line: what was run, by which program, where, how loaded the machine
# was, and the object that the program printed.

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
    # What the scripts write and the report does not change the program.
    if [[ -n $(git status --porcelain -- . ':!docs' ':!scripts' ':!examples' ':!tests') ]]; then
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

# Builds the program and finds out what all records have in common.
prepare() {
    cargo build --release
    konane=${CARGO_TARGET_DIR:-target}/release/konane
    signature=$("$konane" bench --json | grep -o '"signature":[0-9]*' | grep -o '[0-9]*$')
    cpu=$(processor)
    cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
    commit=$(commit)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    timer=()
    local gnu_time
    if gnu_time=$(type -P time) && [[ $("$gnu_time" --version 2>&1) == *GNU* ]]; then
        timer=("$gnu_time" --format='%M %U %S' --output="$scratch/usage")
    fi
}

# keep_in RESULTS: the file of the records.
keep_in() {
    results=$1
    mkdir -p "$(dirname "$results")"
    touch "$results"
}

# What all records of these arguments by this program on this machine begin with.
key() {
    printf '{"args":"%s","signature":%s,"cpu":"%s"' "$1" "$signature" "$cpu"
}

# Lines of the results that hold the given text.
lines_with() {
    grep --fixed-strings -e "$1" "$results" || [[ $? -eq 1 ]]
}

# Whether there is a result of these arguments and run: a finished one, or one with these limits.
known() {
    local line
    while read -r line; do
        if [[ $line != *'"outcome":"unknown"'* ||
            $line == *"\"time_limit\":$3,\"max_nodes\":$4,"* ]]; then
            return 0
        fi
    done < <(lines_with "$(key "$1"),\"run\":$2,")
    return 1
}

# forget ARGS: drops the records of these arguments by this program on this machine.
forget() {
    grep --fixed-strings --invert-match -e "$(key "$1")," "$results" >"$scratch/kept" ||
        [[ $? -eq 1 ]]
    cat "$scratch/kept" >"$results"
}

# understands ARGS: whether the program accepts these arguments; to be asked with a board that
# takes no time.
understands() {
    local command status=0
    read -ra command <<<"$1"
    "$konane" "${command[@]}" --json >/dev/null 2>&1 || status=$?
    [[ $status -ne 2 ]]
}

# measure ARGS RUN TIME_LIMIT MAX_NODES: runs the program once and appends the record, unless there
# is one already. The limits are JSON values: null, "20m", 1000000.
measure() {
    local args=$1 run=$2 time_limit=$3 max_nodes=$4
    local status=0 begin end wall memory=null cpu_seconds=null command load_before
    if known "$args" "$run" "$time_limit" "$max_nodes"; then
        return
    fi
    read -ra command <<<"$args"
    if [[ $time_limit != null ]]; then
        command+=(--time-limit "${time_limit//\"/}")
    fi
    if [[ $max_nodes != null ]]; then
        command+=(--max-nodes "$max_nodes")
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
        local kibibytes
        read -r kibibytes cpu_seconds < <(tail -n 1 "$scratch/usage" |
            awk '{ printf "%s %.2f\n", $1, $2 + $3 }')
        # Not in awk, some of which have no whole numbers above 2^31.
        memory=$((kibibytes * 1024))
    fi
    {
        key "$args"
        printf ',"run":%s,"time_limit":%s,"max_nodes":%s,"command":"konane %s","exit_code":%s,' \
            "$run" "$time_limit" "$max_nodes" "${command[*]}" "$status"
        printf '"wall_seconds":%s,"cpu_seconds":%s,"peak_rss_bytes":%s,"load_before":%s,' \
            "$wall" "$cpu_seconds" "$memory" "${load_before:-null}"
        printf '"date":"%s","commit":"%s","cores":%s,"result":%s}\n' \
            "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$commit" "$cores" "$(<"$scratch/result")"
    } >"$scratch/record"
    cat "$scratch/record" >>"$results"
}
