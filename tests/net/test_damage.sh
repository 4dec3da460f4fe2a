#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A connection that damages a message once, with and without encryption, on the way to the worker and from it: the
# damage is found, the only worker is started again, and the weights are those of one process; the same for processes that
# were started together, by TCP, where the others go on.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/held_training.sh"
. "$top_srcdir/tests/net/ports.sh"

cp "$top_srcdir"/examples/cluster/* .
train() {
	timeout 100 "$QCNN" train config.yaml --set cluster.start_seconds=100 --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false \
		--set run.threads=1 --set train.restarts=1 --set train.epochs=8 --fresh --no-progress "$@" >out 2>err
}
train -o want.bin
cat >agent <<END
#!/bin/sh
shift
[ -e open ] || { : >open; exec "$top_builddir/tests/net/damage" \$(cat how) sh -c "\$*"; }
exec sh -c "\$*"
END
chmod +x agent
at=9000
for case in "to flip on" "from swap on" "to swap off" "from flip off"; do
	how=${case% *} encrypt=${case##* }
	rm -f open got.bin
	at=$((at + 1237))
	echo "$how $at" >how
	tap_ok "encrypt=$encrypt, $how behind byte $at, the only worker" train -o got.bin --encrypt=$encrypt --transport=stdio \
		--hosts 127.0.0.1 --launcher "exec:$PWD/agent" || tap_note "$(tail -3 err)"
	tap_has err "is lost: a received message was damaged or forged; " "it is found"
	tap_has err "has been restarted" "and another worker is started"
	tap_ok "the weights are the same" cmp want.bin got.bin
done
rm -f open
echo to flip 3000 >how
train -o got.bin --transport=stdio --hosts 127.0.0.1 --launcher "exec:$PWD/agent"
tap_is $? 69 "damage before the start is over ends the job"
# The coordinator reads the worker's last message, or sees its agent end first.
tap_ok "and is named" grep -q '^qcnn train: error: 127\.0\.0\.1\[0\]: .*a received message was damaged or forged' err ||
	tap_note "$(cat err)"

# ---- by TCP: rank 1 finds rank 0 behind a relay, and the job waits until the damage is found ----
hold_options 1000
long="--set log.dir=$PWD/runs.tcp --set log.report=false --set log.tensorboard=false --set run.threads=1 --fresh --no-progress $hold_options"
release_training
timeout 100 "$QCNN" train config.yaml $long -o want.bin >out 2>err || tap_note "$(tail -3 err)"
take_ports || tap_note "no ports are free"
for case in "to flip 9000 on" "from swap 1500 on" "to swap 9001 off" "from flip 1501 off"; do
	how=${case% *} encrypt=${case##* }
	port=$((port + 2))
	rm -f got.bin err
	hold_training
	"$top_builddir/tests/net/damage" $how $((port + 1)) $port &
	relay=$!
	RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$QCNN" train config.yaml $long --encrypt=$encrypt -o got.bin >out 2>err &
	first=$!
	tap_until 'ls -A runs.tcp | grep -q rendezvous || ! kill -0 $first'
	RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((port + 1)) "$QCNN" train config.yaml $long --encrypt=$encrypt -o got.bin >other 2>&1 &
	second=$!
	tap_until 'grep -q "is lost" err || ! kill -0 $first'
	release_training
	status=0 got=0
	wait $first || status=$?
	kill $second $relay 2>/dev/null
	wait $second || got=$?
	wait $relay 2>/dev/null
	tap_is "$status $got" "0 75" "encrypt=$encrypt, $how rank 1 by TCP: rank 0 goes on, rank 1 ends" || tap_note "$(tail -3 err other)"
	tap_has err "[1] is lost: a received message was damaged or forged; " "it is found"
	tap_ok "the weights are the same" cmp want.bin got.bin
done
tap_done
