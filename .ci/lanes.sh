# Sourced by the gate and the deep run: independent steps run at the same time, in two lanes (Miri uses only one
# processor). The title of a step is printed when it starts, the log of a lane when it ends.

export CARGO_TERM_COLOR=never
# Everything is built once: what the next build could reuse costs 7 % of this one.
export CARGO_INCREMENTAL=0
# A date: with whatever nightly was there, what passed here failed elsewhere.
export nightly=nightly-2026-10-30
mkdir -p target/lanes
# A script that a lane runs prints its titles where the lane does.
{ : >&3; } 2>/dev/null || exec 3>&1
# The outermost script begins the clock, and the list of minutes.
[[ -n ${BEGAN:-} ]] || rm -f target/lanes/*.step target/lanes/minutes
: "${BEGAN:=$(date +%s)}"
export BEGAN

elapsed() { echo "$(($(date +%s) - BEGAN))"; }

# Prints a line to the terminal and to the lane's log.
say() {
    printf '%s\n' "$*"
    [[ -z ${LANE:-} ]] || printf '%s: %s\n' "$LANE" "$*" >&3
}

# Prints the minutes that the last step of this lane has taken, and the title of the next one, with the seconds before it: of the
# clock, and of processor time, since the clock says little on a machine with other work. The processor time is that of this
# shell; if another shell began the step, its is not known here.
step() {
    local lane=${LANE:-alone} now processor shell began spent last took
    times >"target/lanes/$lane.times" # not in a substitution: it would be that one's
    now=$(elapsed)
    processor=$(awk -F '[ms ]+' '{ s += 60 * ($1 + $3) + $2 + $4 } END { printf "%d", s }' "target/lanes/$lane.times")
    if IFS='|' read -r shell began spent last 2>/dev/null <"target/lanes/$lane.step"; then
        took=$(awk "BEGIN { printf \"%.1f min\", ($now - $began) / 60 }")
        ((shell != BASHPID)) || took+=$(awk "BEGIN { printf \", processor %.1f min\", ($processor - $spent) / 60 }")
        say "--- $last: $took"
        echo "$took: $last" >>target/lanes/minutes
    fi
    echo "$BASHPID|$now|$processor|$*" >"target/lanes/$lane.step"
    echo
    say "=== $* ($now s; processor $processor s)"
}

# What each step has taken, the longest first.
minutes() { sort -rn target/lanes/minutes; }

# Runs tests, and fails if a program, or the documentation, ran none, or if one of the filters names none: cargo is content with
# that.
tests() {
    local log="target/lanes/${LANE:-alone}.tests"
    "$@" 2>&1 | tee "$log"
    awk '
        /^ *(Running|Doc-tests) / { program = $0; ran[program] += 0 }
        /^running [0-9]+ tests?$/ { ran[program] += $2 }
        # The programs of the examples have none.
        END {
            for (program in ran)
                if (ran[program] == 0 && program ~ /tests\/|src\/lib.rs|Doc-tests weakly$/ && program !~ /examples/) {
                    print "no test ran:" program
                    none = 1
                }
            exit none
        }' "$log" >&2
    while [[ $1 != test ]]; do shift; done
    while shift && (($# > 0)); do
        case $1 in
            -p | --skip | --test | --target | --features | --profile) shift ;;
            -*) ;;
            *) grep "test .*$1" "$log" >/dev/null || { echo "no test is named $1" >&2 && return 1; } ;;
        esac
    done
}

# Installs what is missing. (Not `grep -q`: it exits before the command that it reads from, which then fails.)
toolchain() { rustup toolchain list | grep "^$1" >/dev/null || rustup toolchain install "$1" --profile minimal; }
has_valgrind() { command -v valgrind >/dev/null || apt-get install --yes valgrind; }
installed() { command -v "$1" >/dev/null || cargo install --locked "${@:2}" "$1"; }

declare -A lanes=()

# Each lane is a process group: its children end with it.
end_lanes() {
    local pid
    for pid in "${!lanes[@]}" "${limit:-}"; do
        kill -- "-$pid" 2>/dev/null || true
    done
}

# Runs each of the named functions in a lane; the first that fails ends the others. A lane that takes longer than an hour hangs:
# its log tells where.
run_lanes() {
    local lane pid status
    step "the lanes: $*"
    trap end_lanes EXIT
    trap 'exit 130' INT TERM
    set -m
    for lane in "$@"; do
        (
            export LANE=$lane
            set -euo pipefail
            "$lane"
            step "done"
        ) >"target/lanes/$lane.log" 2>&1 </dev/null &
        lanes[$!]=$lane
    done
    sleep "${LANES_LIMIT:-3600}" >/dev/null 2>&1 3>&- &
    limit=$!
    set +m
    while ((${#lanes[@]} > 0)); do
        status=0
        wait -n -p pid "${!lanes[@]}" "$limit" || status=$?
        if ((pid == limit)); then
            for lane in "${lanes[@]}"; do
                printf '\n##### the lane %s has not ended\n' "$lane"
                cat "target/lanes/$lane.log"
            done
            exit 1
        fi
        lane=${lanes[$pid]}
        unset "lanes[$pid]"
        printf '\n##### the lane %s: status %d\n' "$lane" "$status"
        cat "target/lanes/$lane.log"
        if ((status != 0)); then
            printf '\n##### the lane %s has failed (%d s)\n' "$lane" "$(elapsed)" >&2
            exit "$status"
        fi
    done
    end_lanes
}
