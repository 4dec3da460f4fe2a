#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A running job among strangers: where it listens, where its key is to be found (nowhere), and that ten thousand
# connections which prove nothing neither get a byte nor keep it from going on.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

crowd=$top_builddir/tests/net/many_connections
cp "$top_srcdir"/examples/cluster/* .
# An agent that keeps the first frame, with the key behind the length, type, magic and version.
printf '#!/bin/sh\nshift\ntee boot | sh -c "$*"\n' >agent
chmod +x agent
MARK=found-in-a-core-file "$QCNN" train config.yaml --set log.dir="$PWD/runs" --set log.report=false --set train.epochs=100000000 --set train.restarts=1 \
	--set run.threads=1 --no-progress --verbose --hosts local,127.0.0.1 --launcher "exec:$PWD/agent" -o got.bin >out 2>err &
pid=$!
trap 'kill -9 $pid 2>/dev/null' EXIT
tap_until "grep -q 'ready after' err"
tap_has err "ready after" "a job runs"
epochs() { cat runs/*/metrics.jsonl 2>/dev/null | wc -l; }
grows() { had=$(epochs); tap_until '[ "$(epochs)" -gt $((had + 5)) ]'; }
tap_ok "and gets on" grows

# listens PID: the addresses, in hexadecimal.
listens() {
	ls -l "/proc/$1/fd" 2>/dev/null | sed -n 's/.*socket:\[\([0-9]*\)\]/\1/p' >sockets
	awk 'NR == FNR { own[$1] = 1; next } $4 == "0A" && $10 in own { print $2 }' sockets "/proc/$1/net/tcp" "/proc/$1/net/tcp6" 2>/dev/null
}
listens $pid >addresses
port=$(printf '%d' "0x$(sed 's/.*://;q' addresses)")

# ---- the key ----
hex=$(od -An -v -tx1 -j15 -N32 boot | tr -d ' \n')
# pattern HEX: its bytes for grep -P, or the most of them side by side that have no end of line among them.
pattern() { printf %s "$1" | sed 's/../\\x&/g; s/\\x0a/\n/g' | awk 'length > n { n = length; best = $0 } END { print best }'; }
raw=$(pattern "$hex")
tap_is ${#hex} 64 "the agent has seen the key"
# has_key FILE...: as bytes, or in hexadecimal.
has_key() { LC_ALL=C grep -a -l -P "$raw" "$@" || grep -a -i -l "$hex" "$@"; }
if LC_ALL=C grep -a -q -P "$raw" boot 2>/dev/null; then
	ps -eww -o args >words
	tap_is "$(has_key words)" "" "it is no argument of a process"
	tap_is "$(has_key /proc/$pid/environ $(ps -o pid= --ppid $pid | sed 's|.*|/proc/&/environ|;s| ||g') 2>/dev/null)" "" "in no environment"
	tap_is "$(find runs err out -type f | while read -r f; do has_key "$f"; done)" "" "in no log"
	if [ -n "${QCNN_SANITIZED:-}" ]; then
		tap_skip "the memory of a program under the sanitizers fills any disk"
	elif command -v gcore >/dev/null; then
		in_core() { # PID
			for try in 1 2 3; do
				(ulimit -f 2097152; gcore -o core $1) >gcore.out 2>&1
				[ ! -s core.$1 ] || break
			done
			[ -s core.$1 ] || { tap_skip "gcore writes no core file"; return; }
			tap_ok "a core file of $(ps -o args= -p $1 | awk '{ print $2 }') can be read" grep -a -q found-in-a-core-file core.$1
			tap_is "$(has_key core.$1)" "" "the key is not in it"
			rm -f core.$1
		}
		for p in $pid $(ps -o pid=,comm= --ppid $pid | awk '$2 == "qcnn" { print $1 }'); do in_core $p; done
		# One in the middle of a handshake: who listens there is stopped.
		head -c 32 /dev/urandom | base64 >key
		chmod 600 key
		hex=$(base64 -d key | od -An -v -tx1 | tr -d ' \n')
		raw="$(pattern "$hex")|\Q$(cat key)\E"
		kill -STOP $pid
		MARK=found-in-a-core-file RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$QCNN" train config.yaml --key-file key >/dev/null 2>&1 &
		guest=$!
		tap_until '[ -n "$(find /proc/$guest/fd -lname "socket:*")" ]'
		in_core $guest
		kill -9 $guest
		kill -CONT $pid
	else
		tap_skip "gcore is not installed"
	fi
else
	tap_skip "grep finds no bytes"
fi

# ---- where it listens ----
tap_is "$(cut -d: -f1 addresses | sort -u)" 0100007F "a job with workers of this machine listens on the loopback interface alone"
tap_is "$(wc -l <addresses | tr -d ' ')" 1 "at one port"
for p in $(ps -o pid= --ppid $pid); do listens $p; done >others
tap_is "$(cat others)" "" "workers listen nowhere"
"$QCNN" train config.yaml --set log.dir="$PWD/alone" --set log.report=false --set train.epochs=100000000 --set train.restarts=1 --no-progress >out 2>&1 &
alone=$!
tap_until '[ -s alone/*/metrics.jsonl ]'
tap_is "$(listens $alone)" "" "and without workers nothing does"
kill -9 $alone

# ---- who never stops talking ----
printf '#!/bin/sh\nshift\nyes "so much to say" &\nsh -c "$*"\nkill $!\n' >talker
chmod +x talker
tap_ok "a job with a host that prints without end" timeout 120 "$QCNN" train config.yaml --set log.dir="$PWD/talks" --set log.report=false \
	--set train.max_steps=30 --set train.restarts=1 --no-progress -q --hosts 127.0.0.1 --launcher "exec:$PWD/talker" -o talked.bin

# ---- the crowd ----
if [ -x "$crowd" ]; then
	mkfifo end
	"$crowd" $port 10000 50 <end >told 2>&1 &
	exec 8>end
	tap_until '[ -s told ]'
	tap_is "$(cat told)" "made 10000" "ten thousand strangers come"
	tap_ok "the job goes on" grows
	nfd=$(ls "/proc/$pid/fd" | wc -l)
	[ "$nfd" -le 110 ]
	tap_result $? "and has few of them at a time ($nfd open files in all)"
	victim=$(ps -o pid=,comm= --ppid $pid | awk '$2 == "qcnn" { print $1; exit }')
	kill -9 $victim
	tap_until "grep -q 'has been restarted' err"
	tap_note "$(grep 'local\[' err | tail -3)"
	tap_ok "a worker is started again among them" grep -q 'has been restarted' err
	tap_ok "and the job goes on" grows
	exec 8>&-
	tap_until 'grep -q told told'
	tap_has told "told 0" "nobody of them was told a byte"
else
	tap_result 1 "tests/net/many_connections is built"
fi
kill -TERM $pid
status=0
wait $pid || status=$?
trap - EXIT
tap_is $status 75 "the job ends when it is told to"
tap_done
