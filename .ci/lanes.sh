# Sourced by the gate and the deep run: independent steps run at the same time, in two lanes (Miri uses only one
# processor). The title of a step is printed when it starts, the log of a lane when it ends.

export CARGO_TERM_COLOR=never
# A date: with whatever nightly was there, what passed here failed elsewhere.
export nightly=nightly-2026-10-30
mkdir -p target/lanes
# A script that a lane runs prints its titles where the lane does.
{ : >&3; } 2>/dev/null || exec 3>&1
: "${BEGAN:=$(date +%s)}"
export BEGAN

elapsed() { echo "$(($(date +%s) - BEGAN))"; }

# Prints the title of the next step, to the terminal and to the lane's log.
step() {
    printf '\n=== %s (%d s)\n' "$*" "$(elapsed)"
    [[ -z ${LANE:-} ]] || printf '=== %s: %s (%d s)\n' "$LANE" "$*" "$(elapsed)" >&3
}

# Installs what is missing. (Not `grep -q`: it exits before the command that it reads from, which then fails.)
toolchain() { rustup toolchain list | grep "^$1" >/dev/null || rustup toolchain install "$1" --profile minimal; }
installed() { command -v "$1" >/dev/null || cargo install --locked "${@:2}" "$1"; }

declare -A lanes=()

# Each lane is a process group: its children end with it.
end_lanes() {
    local pid
    for pid in "${!lanes[@]}"; do
        kill -- "-$pid" 2>/dev/null || true
    done
}

# Runs each of the named functions in a lane; the first that fails ends the others.
run_lanes() {
    local lane pid status
    trap end_lanes EXIT
    trap 'exit 130' INT TERM
    set -m
    for lane in "$@"; do
        (
            export LANE=$lane
            set -euo pipefail
            "$lane"
            # The clock says little on a machine with other work.
            step "done; processor time of the shell, and of what it ran (user, system)"
            times >&3
        ) >"target/lanes/$lane.log" 2>&1 </dev/null &
        lanes[$!]=$lane
    done
    set +m
    while ((${#lanes[@]} > 0)); do
        status=0
        wait -n -p pid "${!lanes[@]}" || status=$?
        lane=${lanes[$pid]}
        unset "lanes[$pid]"
        printf '\n##### the lane %s: status %d\n' "$lane" "$status"
        cat "target/lanes/$lane.log"
        if ((status != 0)); then
            printf '\n##### the lane %s has failed (%d s)\n' "$lane" "$(elapsed)" >&2
            exit "$status"
        fi
    done
}
