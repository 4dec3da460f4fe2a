# SPDX-License-Identifier: Apache-2.0
# Named pipes as inputs: one without a writer is an error after some seconds, one with a slow writer is read to its end.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
"$QCNN" train -q -o w.bin table.yaml
"$QCNN" weights convert w.bin w.json
for f in model.qcnn include.qcnn sum.txt config.yaml data.csv stream.csv data.npz w.bin w.json hosts slow.qcnn late.qcnn; do
	mkfifo "pipe.$f"
done
echo 'QCNN 1; include "pipe.include.qcnn";' >include.qcnn
echo 'QCNN 1; qubit[2] q; h q; observe pauli_sum("pipe.sum.txt", q);' >sum.qcnn

# in_background NAME COMMAND...: all commands wait at the same time.
in_background() {
	background_name=$1
	shift
	{ timeout 60 "$QCNN" "$@" >"$background_name.out" 2>"$background_name.err" </dev/null; echo $? >"$background_name.status"; } &
}

in_background model check pipe.model.qcnn
in_background include check include.qcnn
in_background sum check sum.qcnn
in_background config train pipe.config.yaml
in_background data infer w.bin --data pipe.data.csv
in_background npz infer w.bin --data pipe.data.npz
in_background bin infer pipe.w.bin
in_background json infer --weights=pipe.w.json w.bin
in_background hosts train --hostfile=pipe.hosts table.yaml
in_background stream train --set=data.train=pipe.stream.csv --set=data.streaming=on table.yaml
# A writer that has opened the pipe may take longer than that, and one that opens it a moment later is waited for.
{ sleep 6; cat bell.qcnn; } >pipe.slow.qcnn &
in_background slow check pipe.slow.qcnn
in_background late check pipe.late.qcnn
sleep 1
cat bell.qcnn >pipe.late.qcnn
wait

for name in model config data npz bin json hosts; do
	tap_is "$(cat $name.status)" 66 "$name: a pipe that no program writes to ends with status 66"
	tap_has $name.err "it is a named pipe, and no program has opened it to write for 5 s" "$name: and the message says so"
done
for name in include sum; do
	tap_is "$(cat $name.status)" 65 "$name: a pipe that no program writes to is an error of the model"
	tap_has $name.err "note: cannot read pipe.$name" "$name: with the pipe's name"
	tap_has $name.err "it is a named pipe, and no program has opened it to write for 5 s" "$name: and the reason"
done
tap_is "$(cat stream.status)" 66 "streamed data from a pipe are refused"
tap_has stream.err "cannot read parts of pipe.stream.csv: it is no regular file" "and the message says why"
tap_is "$(cat slow.status)" 0 "a pipe whose writer is slow is read"
tap_is "$(cat late.status)" 0 "and so is one that is opened a moment later"
"$QCNN" check bell.qcnn | sed 's/bell/pipe.slow/' >wanted
tap_same slow.out wanted "to its end"

if command -v bash >/dev/null; then
	tap_ok "bash's process substitution is read" bash -c '"$QCNN" check <(cat bell.qcnn)'
	"$QCNN" infer w.bin --data samples.csv >wanted
	tap_ok "for data, too" bash -c '"$QCNN" infer w.bin --data=<(cat samples.csv) >data.out'
	tap_same data.out wanted "as CSV"
else
	tap_skip "no bash here"
fi
tap_done
