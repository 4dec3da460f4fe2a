# SPDX-License-Identifier: Apache-2.0
# What the emulated GPU counts: sectors and bank conflicts of the kernels, bytes of a pass over the state, calls of a step.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
emu=$top_builddir/tests/gpu/qcnn-emu
[ -x "$emu" ] || tap_skip_all "no emulated GPU that counts in this build"
echo '# | bar | kernel | measured | limit | |'
echo '# |---|---|---|---|---|'

# bar TEXT KERNEL MEASURED RELATION LIMIT: a point, and a row of the table.
bar() {
	good=$(awk -v a="$3" -v b="$5" -v r="$4" 'BEGIN { print (a != "" && (r == "=" ? a == b : r == "<=" ? a + 0 <= b + 0 : a + 0 >= b + 0)) ? "pass" : "FAIL" }')
	echo "# | $1 | $2 | $3 | $4 $5 | $good |"
	[ "$good" = pass ]
	tap_result $? "$2: $1 $3"
}

# 14 qubits, more than a tile has.
cat >layers.qcnn <<'END'
QCNN 1;
const int n = 14;
qubit[n] q;
param float[12] w;
h q;
for int k in [0:5] {
  for int i in [0:n-1] { cx q[i], q[(i + 5) % n]; }
  ry(w[2*k]) q[k];
  sx q;
  rx(w[2*k+1]) q[13];
}
observe z(q[0]) * x(q[13]);
END

# Products that flip bits 0 to 10 alone are read in one launch, the others in a second one. Two outputs: a derivative of each is
# one pass of all of them.
z=$(awk 'BEGIN { for (k = 0; k < 14; k++) printf " + z(q[%d])", k }')
cat >products.qcnn <<END
QCNN 1;
const int n = 14;
qubit[n] q;
input float[2] v;
param float[n] w;
amplitudes(v) q[0];
ry(each w) on q;
cx on ring(q);
observe x(q[2]) * x(q[5]) + x(q[7]) * x(q[8]) * x(q[10]) * x(q[11])$z + z(q[1]) * z(q[12]);
observe x(q[0]) * x(q[1]) + y(q[3]) * x(q[4]) + x(q[6]) * x(q[9]) + x(q[12]) * y(q[13]);
END

printf 'a,b\n1,2\n' >products.csv

nm "$emu" | sed -n 's/^0*\([0-9a-f]*\) [A-Za-z] _Z[0-9]*\([a-z_]*\)I\([df]\).*cuda_.*/0x\1 \2_\3/p' >names
# count FILE OPTION...: what the kernels do for the circuit and its gradients, to `report`.
count() {
	EMU_COUNT=1 EMU_REPORT=raw "$emu" run -q --device=cuda --seed=3 --emit=jacobian --precision=$precision "$@" >out 2>err ||
		tap_note "$(cat err)"
	awk 'FILENAME == "names" { name[$1] = $2; next } /^kernel/ { $2 = name[$2] } $16 == "kernel" { $17 = name[$17] } { print }' names raw >report
}
# sum KERNEL SPACE AWK-CONDITION AWK-VALUE: over the places of a kernel; $5 is the size of an access, $9 the bytes moved, $11
# sectors, $13 and $15 wavefronts and the least there could be, $19 useful bytes.
sum() { awk -v kernel="$1" -v space="$2" "\$17 == kernel && \$2 == space && ($3) { n += $4 } END { printf \"%.0f\n\", n }" report; }
share() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f\n", (b > 0 ? 100 * a / b : -1) }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", (b > 0 ? a / b : -1) }'; }

for letter in f d; do
	precision=$([ $letter = f ] && echo single || echo double)
	count layers.qcnn
	for kernel in stage_forward_$letter stage_backward_$letter; do
		# A block of threads has 2^12 amplitudes of 8 bytes, or 2^11 of 16; a pass that leaves out what is known to be 0 has fewer.
		blocks=$(awk -v kernel=$kernel '$1 == "kernel" && $2 == kernel { print $6 }' report)
		states=$([ $kernel = stage_forward_$letter ] && echo 1 || echo 2)
		read=$(sum $kernel global '$3 == "read" && $5 == 16' '$9')
		written=$(sum $kernel global '$3 == "write" && $5 == 16' '$9')
		tap_ok "$kernel: $blocks blocks" test "${blocks:-0}" -ge 8
		if [ $states = 1 ]; then # what is known to be 0 is not read
			bar "bytes of the state read, of those that it has" $kernel "$(ratio "$read" $((blocks * 32768)))" '<=' 0.800
			bar "bytes of the state written, of those that it has" $kernel "$(ratio "$written" $((blocks * 32768)))" = 1.000
		else # the last pass writes nothing
			bar "bytes of the state read, of those that it has" $kernel "$(ratio "$read" $((states * blocks * 32768)))" = 1.000
			bar "bytes of the state written, of those that it has" $kernel "$(ratio "$written" $((states * blocks * 32768)))" '<=' 1.000
		fi
		bar "percent of other bytes" $kernel "$(share "$(sum $kernel global '$5 != 16' '$9')" $((read + written)))" '<=' 0.5
		bar "percent of the state's sectors that are of use" $kernel \
			"$(share "$(sum $kernel global '$5 == 16' '$19')" $((32 * $(sum $kernel global '$5 == 16' '$11'))))" '>=' 99
		bar "wavefronts of exchanges, of the least" $kernel \
			"$(ratio "$(sum $kernel shared "\$9 >= 98304" '$13')" "$(sum $kernel shared "\$9 >= 98304" '$15')")" = 1.000
		bar "wavefronts of all, of the least" $kernel "$(ratio "$(sum $kernel shared 1 '$13')" "$(sum $kernel shared 1 '$15')")" '<=' 1.05
	done
	count products.qcnn --data=products.csv
	# The state: what each lane reads or writes for itself.
	for kernel in start_$letter expect_$letter lambda_terms_$letter; do
		own='$3 != "atomic" && $9 == $19'
		bar "percent of the state's sectors that are of use" $kernel \
			"$(share "$(sum $kernel global "$own" '$19')" $((32 * $(sum $kernel global "$own" '$11'))))" '>=' 99
	done
	bar "wavefronts of all, of the least" expect_$letter \
		"$(ratio "$(sum expect_$letter shared 1 '$13')" "$(sum expect_$letter shared 1 '$15')")" '<=' 1.05
	bar "wavefronts of all, of the least, with products of z" stage_forward_$letter \
		"$(ratio "$(sum stage_forward_$letter shared 1 '$13')" "$(sum stage_forward_$letter shared 1 '$15')")" '<=' 1.05
	state=$(sum start_$letter global '$3 == "write"' '$9')
	own='$9 == $19 && $3 =='
	bar "times that products of many bits read the state" expect_$letter \
		"$(ratio "$(sum expect_$letter global "$own \"read\"" '$9')" "$state")" = 2.000
	bar "times that they read it and lambda" lambda_terms_$letter \
		"$(ratio "$(sum lambda_terms_$letter global "$own \"read\"" '$9')" "$state")" = 3.000
	bar "times that they write lambda" lambda_terms_$letter \
		"$(ratio "$(sum lambda_terms_$letter global "$own \"write\"" '$9')" "$state")" = 2.000
done

# Steps of a training.
cat >steps.qcnn <<'END'
QCNN 1;
qubit[2] q;
input float[2] x;
param float[2] w;
ry(x[0] * w[0]) q[0];
ry(x[1]) q[1];
cx q[0], q[1];
rz(w[1]) q[0];
observe z(q[0]) * z(q[1]);
END
awk 'BEGIN { print "a,b,label"; for (k = 0; k < 64; k++) printf "%.3f,%.3f,%d\n", k % 37 / 10, k % 53 / 20, k % 2 ? 1 : -1 }' >steps.csv
cat >steps.yaml <<'END'
model: { file: steps.qcnn }
data: { train: steps.csv, label: label }
train: { epochs: 1, batch_size: 16, loss: mse }
run: { seed: 5, device: cuda }
END
for epochs in 1 3; do
	EMU_REPORT=calls-$epochs "$emu" train -q --set log.dir=log-$epochs --set train.epochs=$epochs steps.yaml >out 2>err || tap_note "$(cat err)"
done
# calls NAME: of a step, of which the second training has eight more.
calls() { awk -v call="$1" '$1 == "call" && $2 == call { n[FILENAME] = $3 } END { print (n["calls-3"] - n["calls-1"]) / 8 }' calls-1 calls-3; }
bar "waits of the host" "a step" "$(calls cudaStreamSynchronize)" '<=' 1
for call in cudaMalloc cudaMallocHost cudaStreamCreate cudaEventCreate cudaFuncSetAttribute cudaGraphCreate cudaGraphInstantiateWithFlags; do
	bar "$call" "a step" "$(calls $call)" = 0
done
bar "launches of graphs" "a step" "$(calls cudaGraphLaunch)" = 1
bar "launches and copies of their own" "a step" $(($(calls cudaLaunchKernelExC) + $(calls cudaMemcpyAsync) + $(calls cudaLaunchHostFunc))) = 0
# The nodes of its graph are a chain: inputs go up, a kernel makes readouts of them, the gradients of the loss and sums, which come down. A loss without terms (loss_terms.h) is the host's: readouts come down for it and
# gradients go up, between the passes.
# nodes WHAT FIRST SECOND: of a step, in reports of trainings of which the second has eight more.
nodes() { awk -v what="$1" '$1 == "nodes" && $2 == what { n[FILENAME] = $3 } END { print (n[ARGV[2]] - n[ARGV[1]]) / 8 }' "$2" "$3"; }
# nodes_of REPORT KERNELS COPIES CALLS LOSS
nodes_of() {
	kernels=$(awk '$1 == "kernel" { n[FILENAME] += $4 } END { print (n[ARGV[2]] - n[ARGV[1]]) / 8 }' "$1-1" "$1-3")
	bar "nodes of its graph besides $kernels kernels, loss $5" "a step" \
		"$(awk -v kernels="$kernels" '$1 == "graphs" { n[FILENAME] = $4 } END { print (n[ARGV[2]] - n[ARGV[1]]) / 8 - kernels }' "$1-1" "$1-3")" = $((2 * $3 + $4))
	bar "kernels, two passes of one stage" "a step" "$(nodes kernel "$1-1" "$1-3")" = "$2"
	for what in upload download; do
		bar "nodes that $what" "a step" "$(nodes $what "$1-1" "$1-3")" = "$3"
	done
	bar "nodes that call the host" "a step" "$(nodes call "$1-1" "$1-3")" = "$4"
	bar "nodes that clear memory" "a step" "$(nodes clear "$1-1" "$1-3")" = 0
}
nodes_of calls 1 1 0 mse
for epochs in 1 3; do
	EMU_REPORT=host-$epochs "$emu" train -q --set train.loss=log_cosh --set log.dir=host-log-$epochs --set train.epochs=$epochs steps.yaml \
		>out 2>err || tap_note "$(cat err)"
done
nodes_of host 2 2 1 log_cosh
# Without matrices of samples there is nothing to upload at first.
sed 's/x\[0\] \* //; /x\[1\]/d' steps.qcnn >weights.qcnn
for epochs in 1 3; do
	EMU_REPORT=weights-$epochs "$emu" train -q --set model.file=weights.qcnn --set log.dir=weights-log-$epochs --set train.epochs=$epochs steps.yaml \
		>out 2>err || tap_note "$(cat err)"
done
bar "nodes that upload, of a model that does not read inputs" "a step" "$(nodes upload weights-1 weights-3)" = 1
# Outputs alone: units of 1,024 samples, of which the third and the fourth are a graph.
awk 'BEGIN { print "a,b"; for (k = 0; k < 4096; k++) print k % 37 / 10 "," k % 53 / 20 }' >outputs.csv
EMU_REPORT=outputs "$emu" run -q --device=cuda --threads=1 --seed=3 --data=outputs.csv steps.qcnn >out 2>err || tap_note "$(cat err)"
bar "nodes of a graph besides a kernel" outputs "$(awk '$1 == "graphs" { print $4 / $2 - 1 }' outputs)" '<=' 2
tap_done
