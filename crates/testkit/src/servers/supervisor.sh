#!/usr/bin/env bash
# Keeps one server: keeper FOLDER STOP_SIGNAL END_SIGNAL COMMAND... Takes orders line by line and answers
# each with one line. When the orders end, because the test is over or was killed -9, the server is ended
# and its folder removed: a static in Rust is never dropped, but a pipe is always closed.
folder=$1 stop_signal=$2 end_signal=$3
shift 3
pid=""
set -m # the server gets a process group of its own, so Ctrl-C does not reach it before us

alive() {
    [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null
}

# The processes that the server started: PostgreSQL's are in sessions of their own.
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

# The server first, so that it starts no child that is missed.
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

# All at once, as when the machine stops.
kill_all() {
    alive || return
    kill -STOP "$pid"
    signal_children KILL
    kill -KILL "$pid"
    # More than once: it also returns when the server is paused.
    while alive; do wait "$pid"; done
}

# Asks it to end and waits this many twentieths of a second before it is killed.
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
