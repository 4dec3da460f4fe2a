# SPDX-License-Identifier: Apache-2.0
# qcnn profile --attach: profiles of a training that runs, whose results stay the same bits.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/ports.sh"
. "$top_srcdir/tests/net/held_training.sh"
export OMP_NUM_THREADS=2 XDG_RUNTIME_DIR="$PWD/sockets"
mkdir -m 700 sockets
"$QCNN" init -q
socket() { sed -n 's/.*"profile_socket": "\([^"]*\)".*/\1/p' runs/*/run.json 2>/dev/null; }
# Starts a training that lasts until it is stopped, and waits until it can be attached to.
start() {
	rm -rf runs
	"$QCNN" train -q --set train.epochs=1000000000 --set train.restarts=1 --set log.checkpoint_seconds=0 "$@" config.yaml >log 2>&1 &
	job=$!
	tap_until '[ -S "$(socket)" ]'
}
stop() {
	kill -TERM "$job"
	wait "$job"
}

# ---- a capture ----
start
tap_is "$(stat -c %a "$(socket)")" 600 "the socket is the user's alone"
tap_exit 0 "a run that runs" "$QCNN" profile --attach latest --steps 50
tap_has out 'train of model.qcnn: 50 steps' "as many steps as asked for"
tap_has err 'the files of this profile are in runs/' "its files are kept"
for file in profile.json profile.html trace.json.gz stacks.folded; do
	tap_is "$(ls runs/*/profile/*/"$file" | wc -l)" 1 "$file"
done
tap_is "$(ls runs/*/profile/*/plugins/profile/*/*.xplane.pb | wc -l)" 1 "for TensorBoard's plugin"
tap_is "$(gzip -dc runs/*/profile/*/trace.json.gz | head -c 1)" "{" "a trace of JSON"
tap_is "$(grep -c '<script' runs/*/profile/*/profile.html)" 0 "a page without scripts"
tap_exit 0 "by its folder" "$QCNN" profile --attach "$(echo runs/*-*)" --steps 5 --json -o elsewhere
tap_is "$(ls elsewhere/profile.json)" elsewhere/profile.json "files where they are asked for"

# ---- what goes wrong harms no training ----
"$QCNN" profile --attach latest --seconds 3600 -o never >out 2>err &
client=$!
kill -KILL "$client"
wait "$client" 2>/dev/null
tap_exit 0 "after a profiler that was killed" "$QCNN" profile --attach latest --steps 5 -o again
printf '{"schema": 1, "version": "0.0.0", "level": 2, "steps": 1}\n' >request
ask() { python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(open("request", "rb").read()); s.shutdown(socket.SHUT_WR)
d = b""
while True:
    x = s.recv(65536)
    if not x: break
    d += x
print(d.decode()[:400])' "$(socket)"; }
if command -v python3 >/dev/null; then
	tap_has_in() { case "$1" in *"$2"*) tap_is yes yes "$3" ;; *) tap_is "$1" "$2" "$3" ;; esac; }
	tap_has_in "$(ask)" '"code": 76' "another version is refused"
	tap_has_in "$(ask)" '0.0.0' "which is named"
	head -c 5000 /dev/zero | tr '\0' x >request
	tap_is "$(ask)" "" "a request without an end gets no answer"
	echo '[]' >request
	tap_has_in "$(ask)" '"code": 76' "nor is a list a request"
else
	tap_skip "no python3 to speak to the socket"
fi
: >file
tap_exit 73 "files that cannot be written" "$QCNN" profile --attach latest --steps 2 -o file/below
tap_is "$(kill -0 "$job" && echo runs)" runs "the training goes on"
stop
tap_is "$(ls sockets/qcnn-*/ | wc -l)" 0 "no socket is left"
tap_exit 66 "a run that has ended" "$QCNN" profile --attach "$(echo runs/*-*)"
tap_has err 'does not run now' "says so"
tap_exit 66 "latest" "$QCNN" profile --attach latest
tap_exit 66 "another host" "$QCNN" profile --attach node7:4000
tap_has err 'ssh node7 qcnn profile --attach' "the command is named"
tap_exit 2 "with an operand" "$QCNN" profile --attach latest config.yaml
tap_exit 2 "neither" "$QCNN" profile
tap_exit 2 "--every alone" "$QCNN" profile --every 3 config.yaml

# ---- the same bits ----
rm -rf runs
long="--set train.restarts=1 --set log.tensorboard=false"
hold_options 56000
release_training
"$QCNN" train -q -o plain.bin $long $hold_options config.yaml
rm -rf runs
"$QCNN" train -q -o watched.bin $long $hold_options config.yaml &
job=$!
tap_until '[ -S "$(socket)" ]'
"$QCNN" profile --attach latest --level=matrices --steps 100 -o watched >/dev/null 2>&1
wait "$job"
"$QCNN" weights diff plain.bin watched.bin >out 2>&1
tap_is "$?" 0 "the weights are those of a training that nobody looked at"
start
"$QCNN" profile --attach latest --every 1 --steps 20 >many 2>/dev/null &
client=$!
tap_until '[ "$(ls -d runs/*/profile/* 2>/dev/null | wc -l)" -ge 2 ]'
stop
wait "$client"
tap_is "$? $(grep -c '^train of model.qcnn' many | awk '{ print ($1 >= 2) }')" "0 1" "--every ends with the training"
start
{
	"$QCNN" profile --attach latest --every 1 --steps 20 2>/dev/null || echo $? >status
} | head -n 1 >/dev/null
tap_is "$(cat status) $(kill -0 "$job" && echo runs)" "141 runs" "or with its reader"
stop

# ---- the training is killed while it is recorded ----
rm -rf runs
hold_training
"$QCNN" train -q -o killed.bin $long $hold_options --set log.checkpoint_steps=1000 config.yaml >log 2>&1 &
job=$!
tap_until '[ -S "$(socket)" ] && [ -s runs/*/checkpoint/1.bin ]'
"$QCNN" profile --attach latest --seconds 3600 -o killed >out 2>err &
client=$!
tap_until 'ls /proc/$client/fd -l | grep -q socket'
kill -KILL "$job"
wait "$job" 2>/dev/null
wait "$client"
tap_is "$?" 75 "the profiler ends with the training"
tap_has err "ended" "and says so"
release_training
tap_exit 0 "which is resumed" "$QCNN" train -q -o killed.bin $long $hold_options --set log.checkpoint_steps=1000 config.yaml
"$QCNN" weights diff plain.bin killed.bin >out 2>&1
tap_is "$?" 0 "and ends with the weights of a training that nobody looked at"
start --hosts local:2
tap_exit 0 "workers" "$QCNN" profile --attach latest --steps 30 --json -o workers
tap_is "$(grep -o '"role": "[a-z]*"' out | tr '\n' ' ')" '"role": "coordinator" "role": "worker" "role": "worker" ' "are all in it"
stop

# ---- through the port of a job whose processes have a key file ----
take_ports || tap_note "no ports are free"
"$QCNN" worker --new-key key
"$QCNN" worker --new-key other
rm -rf runs
"$QCNN" train -q -o alone.bin $long --set train.epochs=300 config.yaml
ranks() { # EPOCHS
	rm -rf runs
	pids=
	for rank in 1 0; do
		RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$QCNN" train -q -o ranks.bin $long \
			--set train.epochs="$1" --key-file key config.yaml >log.$rank 2>&1 &
		pids="$pids $!"
	done
	job=$!
	tap_until '[ -S "$(socket)" ]'
}
by_port() { "$QCNN" profile --attach 127.0.0.1:$port --steps 20 --json "$@"; }
ranks 1000000000
tap_exit 0 "a profile through the port" by_port --key-file key
tap_is "$(grep -o '"role": "[a-z]*"' out | sort | uniq -c | tr -s ' \n' ' ')" ' 1 "role": "coordinator" 2 "role": "worker" ' "of all workers"
tap_is "$(ls profile/*/trace.json.gz | wc -l)" 1 "its files are here"
tap_exit 77 "with another key" by_port --key-file other
tap_is "$(cat out)" "" "gets nothing"
tap_has err 'does not accept this key' "and says so"
tap_exit 66 "without a key" by_port
tap_has err 'ssh 127.0.0.1 qcnn profile --attach RUN' "names the command"
tap_exit 69 "where nobody listens" "$QCNN" profile --attach 127.0.0.1:1 --key-file key
tap_exit 66 "a key file that is not there" by_port --key-file nokey
if command -v python3 >/dev/null; then
	# Bytes that are no proof: the first frame of a handshake with another key, noise, a request in the clear.
	python3 - $port >noise <<'END'
import os, socket, struct, sys
for body in [b"\x12\x02\0\0\0{}", b"\x02" + os.urandom(80), os.urandom(900), b"\x02" + bytes(3) + b"\xff" * 70]:
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.sendall(struct.pack("<I", len(body)) + body)
    s.shutdown(socket.SHUT_WR)
    try:
        print(len(s.recv(1 << 16)))
    except ConnectionResetError:
        print(0)
END
	tap_is "$(tr '\n' ' ' <noise)" "0 0 0 0 " "no proof, no answer"
else
	tap_skip "no python3 to speak to the port"
fi
tap_exit 0 "once more" by_port --key-file key -o again.port
"$QCNN" profile --attach 127.0.0.1:$port --key-file key --steps 1000000 >out 2>err &
client=$!
tap_until 'ls /proc/$client/fd -l | grep -q socket'
kill -KILL $client
wait $client 2>/dev/null
tap_exit 0 "after a profiler that was killed" by_port --key-file key -o again.port
stop
wait $pids
ranks 300
by_port --key-file key --steps 100 -o again.port >out 2>err
wait $pids
"$QCNN" weights diff alone.bin ranks.bin >out 2>&1
tap_is "$?" 0 "the weights are those of a training that nobody looked at"
tap_done
