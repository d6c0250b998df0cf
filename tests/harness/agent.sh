#!/bin/sh
# The scripted agent: reads its prompt, and does in iteration N what script/N of the project says, or
# script/all where there is no such file. A script is made of these words, and of anything else in sh.
prompt=$(cat)
N=$(printf '%s\n' "$prompt" | sed -n 's/^This is iteration \([0-9]*\).*/\1/p')

say() { printf '%s\n' "$*"; }
edit() { file=$1 && shift && printf '%s\n' "$*" >"$file"; }
# For --agent-format events: event TYPE '"key": value, ...'
event() { printf '{"type": "%s"%s}\n' "$1" "${2:+, $2}"; }
crash() { kill -9 $$; }
hang() { while :; do sleep 100; done; }
# One that outlives the agent, in a session of its own, deaf to TERM.
spawn() { setsid sh -c 'trap "" TERM HUP; exec sleep 300' & }
flood() { head -c "$1" /dev/zero | tr '\0' x; }
# Waits for a file, so that a test decides when it goes on.
meet() { while [ ! -e "$1" ]; do sleep 0.05; done; }

script=script/$N
[ -f "$script" ] || script=script/all
[ -f "$script" ] || exit 0
# shellcheck disable=SC1090 # the test writes it
. "./$script"
