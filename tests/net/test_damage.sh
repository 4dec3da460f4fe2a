#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A connection that damages a message once, with and without encryption, on the way to the worker and from it: the
# damage is found, the only worker is started again, and the weights are those of one process.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

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
for encrypt in on off; do
	for way in to from; do
		for kind in flip swap; do
			rm -f open got.bin
			at=$((at + 1237))
			echo "$way $kind $at" >how
			tap_ok "encrypt=$encrypt, $kind behind byte $at $way the only worker" train -o got.bin --encrypt=$encrypt --transport=stdio \
				--hosts 127.0.0.1 --launcher "exec:$PWD/agent" || tap_note "$(tail -3 err)"
			tap_has err "is lost: the connection brought a message that was damaged or forged on its way; " "it is found"
			tap_has err "takes part" "and another worker is started"
			tap_ok "the weights are the same" cmp want.bin got.bin
		done
	done
done
rm -f open
echo to flip 3000 >how
train -o got.bin --transport=stdio --hosts 127.0.0.1 --launcher "exec:$PWD/agent"
tap_is $? 69 "damage before the start is over ends the job"
tap_has err "127.0.0.1[0]: the connection brought a message that was damaged" "and is named"
tap_done
