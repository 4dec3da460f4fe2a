#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tensors and state vectors, from model to training: the same outputs, derivatives and losses; tensors from any number of threads
# and workers, after the loss of a worker and after an interruption: the same bits.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/held_training.sh"

examples=$top_srcdir/examples
few="--set log.report=false --set log.tensorboard=false --set train.restarts=1 --set run.threads=1 --no-progress"

# apart FILE OTHER: the largest difference between the numbers of two files.
apart() {
	for file in "$1" "$2"; do tr -cs '0-9.e+-' '\n' <"$file" | grep '[0-9]' >"$file.numbers"; done
	paste "$1.numbers" "$2.numbers" | awk 'NF != 2 { exit 1 } { d = $1 - $2; d = d < 0 ? -d : d; most = d > most ? d : most } END { print NR ? most : "none" }'
}
# close NAME FILE OTHER LIMIT: not the same, since they are made in different ways, but so near.
close() {
	d=$(apart "$2" "$3") || d=
	tap_ok "$1: ${d:-other numbers of numbers} apart" awk -v d="$d" -v limit="$4" 'BEGIN { exit !(d != "" && d > 0 && d + 0 < limit) }'
}

# ---- a model with all that makes gates ----
cat >all.qcnn <<'EOF'
QCNN 1;
qubit[6] q;
input float[6] x;
block u(float[3] t) a, b {
  rx(t[0]) a;  ry(t[1]) b;  cx a, b;  pow(t[2]) @ x b;  pow(0.5) @ zz a, b;
}
embed { ry(each x) on q; }
param float[3] t;
param float[3] s;
param float g;
u(t) on chain(q);
inv @ u(s) q[0], q[1];
pow(3) @ u(t) q[2], q[3];
pow(-2) @ u(s) q[1], q[3];
ctrl @ rx(max(g, s[0])) q[0], q[1];
negctrl @ u(s) q[2], q[3], q[4];
swap q[0], q[3];
if (measure q[5]) rz(abs(g)) q[4]; else ry(min(s[0], 0.2) * x[0]) q[4];
if (measure q[5]) x q[1]; else h q[2];
discard q[5];
observe z(q[4]), x(q[0]) * y(q[1]), probs(q[0:3]), 0.5 * z(q[0]) + 2, z(q[0]) * z(q[1]) * z(q[2]) * x(q[3]) * x(q[4]);
EOF
cat >x.csv <<'EOF'
a,b,c,d,e,f
0,0,0,0,0,0
3.141592653589793,3.141592653589793,3.141592653589793,3.141592653589793,3.141592653589793,3.141592653589793
1.5707963267948966,-1.5707963267948966,1.5707963267948966,1.5707963267948966,1.5707963267948966,1.5707963267948966
0.1,0.7,-1.3,2.2,0.4,-0.9
-2.1,0.3,1.9,-0.6,1.1,0.8
0.5,-0.2,0.3,1.4,-2.5,2.8
1.2,2.3,-0.7,0.9,0.2,-1.6
0.8,-1.1,2.6,-2.9,0.6,0.4
-0.3,1.5,-1.8,0.2,2.1,1.3
EOF
echo '{"t": [0, 0, 0], "s": [0, 0, 0], "g": 0.1}' >zero.json
echo '{"t": [3.141592653589793, 1.5707963267948966, 1], "s": [-0.3, 0.5, 1], "g": -1.5707963267948966}' >special.json
for weights in "" --weights=zero.json --weights=special.json; do
	for emit in outputs jacobian; do
		for method in tensor statevector; do
			"$QCNN" run -q -p double --method=$method -D x.csv -e $emit -o $method.json $weights all.qcnn 2>err || tap_note "$(cat err)"
		done
		close "$emit $weights" tensor.json statevector.json 1e-12
	done
done

# ---- training ----
# train NAME CONFIG [options]: writes NAME.bin and NAME.csv, the losses of each epoch.
train() {
	out=$1 config=$2
	shift 2
	rm -rf "$out.bin" "$out.runs"
	"$QCNN" train "$config" --fresh $few --set run.method=tensor --set cluster.start_seconds=100 --set log.dir="$PWD/$out.runs" -o "$out.bin" "$@" >out 2>err ||
		{ sed "s/^/# $out: /" err | tail -5; return 1; }
	awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k ~ /loss$/) want[k] } NR > 1 { for (k in want) print $k }' "$out.runs"/latest/history.csv >"$out.csv"
}
for name in cluster cluster-hybrid hur iris; do
	config=$examples/$name/config.yaml
	train tensor "$config" --set run.precision=double --set train.epochs=5
	train statevector "$config" --set run.precision=double --set train.epochs=5 --set run.method=statevector
	close "$name: losses" tensor.csv statevector.csv 1e-9
done

short="--set train.epochs=2"
train want "$examples/cluster-hybrid/config.yaml" $short
for options in "--set run.threads=2" "--set run.threads=3" "--set run.precision=double --set run.threads=5" "--hosts local" "--hosts local:2" "--hosts local:3"; do
	train got "$examples/cluster-hybrid/config.yaml" $short $options
	tap_same got.csv want.csv "the same losses with $options"
done

# ---- an energy: threads share its products ----
cat >energy.qcnn <<'EOF'
QCNN 1;
const int n = 24;
qubit[n] q;
for int d in [1:6] {
  layer turn { param float[2*n] t; ry(each t[0:n-1]) on q; rz(each t[n:2*n-1]) on q; }
  layer pairs { cz on chain(q); }
}
let energy = 0;
for int k in [0:n-2] { energy -= z(q[k]) * z(q[k+1]); }
for int k in [0:n-1] { energy -= 0.8 * x(q[k]); }
observe energy;
EOF
cat >energy.yaml <<'EOF'
model: { file: energy.qcnn }
data: { generate: no-input }
train: { epochs: 3, loss: output, optimizer: { adam: { learning_rate: 0.1 } } }
EOF
train want energy.yaml
for options in "--set run.threads=2" "--set run.threads=4" "--hosts local:2"; do
	train got energy.yaml $options
	tap_same got.csv want.csv "the same energies with $options"
	tap_ok "and weights" cmp want.bin got.bin
done

# ---- a worker that is lost, and a run that is interrupted ----
hold_options $([ -n "${QCNN_SANITIZED:-}" ] && echo 200 || echo 400)
release_training
train want "$examples/cluster/config.yaml" $hold_options

hold_training
"$QCNN" train "$examples/cluster/config.yaml" --fresh $few --set run.method=tensor --set log.dir="$PWD/lost" -o got.bin $hold_options \
	--set cluster.start_seconds=100 --hosts local:3 --replacements 0 >out 2>err &
coordinator=$!
tap_until '[ -e held ]'
kill -9 $(ps -o pid=,stat=,args= --ppid $coordinator | awk '$2 !~ /^Z/ && !/\.\/gate$/ { print $1; exit }')
release_training
wait $coordinator
tap_is $? 0 "a worker that is killed does not end the run"
tap_has err "is lost" "which says so"
tap_ok "and the weights are the same" cmp want.bin got.bin

hold_training
rm -f got.bin
"$QCNN" train "$examples/cluster/config.yaml" --fresh $few --set run.method=tensor --set log.dir="$PWD/resumed" -o got.bin $hold_options >out 2>err &
run=$!
tap_until '[ -e held ]'
kill -INT $run
release_training
wait $run
[ $? -ne 0 ] && [ ! -e got.bin ]
tap_is $? 0 "a run is interrupted"
"$QCNN" train "$examples/cluster/config.yaml" $few --set run.method=tensor --set log.dir="$PWD/resumed" -o got.bin $hold_options >out 2>err || tap_note "$(cat err)"
tap_has err "resum" "it is resumed"
tap_ok "and has the weights of one that was not interrupted" cmp want.bin got.bin

tap_done
