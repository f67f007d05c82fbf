#!/usr/bin/env bash
# Supervises one server: supervisor FOLDER STOP_SIGNAL END_SIGNAL COMMAND... Reads orders line by line and
# answers each with one line. When standard input closes, because the test has ended or was killed, it ends the
# server and removes the folder. Rust never drops a static, but the system always closes a pipe.
folder=$1 stop_signal=$2 end_signal=$3
shift 3
pid=""
set -m # the server gets its own process group, so Ctrl-C does not reach it first

alive() {
    [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null
}

# Child processes of the server; those of PostgreSQL are in their own sessions.
children() {
    local stat fields
    for stat in /proc/[0-9]*/stat; do
        read -r fields 2>/dev/null <"$stat" || continue
        fields=${fields##*) }
        # shellcheck disable=SC2086 # split on purpose: state, parent
        set -- $fields
        [ "$2" != "$pid" ] || echo "${stat//[^0-9]/}"
    done
}

# The server first, so that it cannot start another child.
pause() {
    kill -STOP "$pid" && signal_children STOP
}

resume() {
    signal_children CONT
    kill -CONT "$pid"
}

signal_children() {
    local child
    for child in $(children); do kill "-$1" "$child" 2>/dev/null; done
    return 0
}

# Kills the server and its children together, as when the machine stops.
kill_all() {
    alive || return
    kill -STOP "$pid"
    signal_children KILL
    kill -KILL "$pid"
    # In a loop: `wait` also returns when the server is paused.
    while alive; do wait "$pid"; done
}

# Sends a signal and waits this many times 50 ms before it kills the server.
end() {
    local tries=$2
    alive || return
    kill "-$1" "$pid"
    resume
    while alive && [ "$tries" -gt 0 ]; do
        sleep 0.05
        tries=$((tries - 1))
    done
    kill_all
}

while read -r order; do
    case $order in
        start)
            "$@" >>"$folder/log" 2>&1 </dev/null &
            pid=$!
            echo "$pid"
            ;;
        alive) if alive; then echo yes; else echo no; fi ;;
        stop) end "$stop_signal" 600; echo stopped ;;
        kill) kill_all; echo killed ;;
        pause) pause; echo paused ;;
        resume) resume; echo resumed ;;
    esac
done
end "$end_signal" 60
rm -rf "$folder"
