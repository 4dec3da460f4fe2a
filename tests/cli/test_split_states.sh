# SPDX-License-Identifier: Apache-2.0
# States that processes of this host hold together: the same bits for any number of them, and one that is lost.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cp -r "$top_srcdir/examples/cluster" .
cd cluster || exit 1

# ---- the same bits ----

cat >five.csv <<'END'
x0,x1,x2,x3,x4,x5,x6,x7,x8,x9,x10,x11
0.1,0.2,-0.3,0.4,1.5,-0.6,0.7,0.8,-0.9,1.0,2.1,-1.2
1.1,-0.2,0.3,0.4,0.5,-2.6,0.7,-0.8,0.9,1.0,-1.1,0.2
END
for ranks in 1 2 8; do
	tap_exit 0 "a training by $ranks processes" "$QCNN" train --fresh --set=train.epochs=2 --set=train.restarts=2 \
		--set=train.batch_size=112 --set=run.split=8 --ranks=$ranks -o "w$ranks.bin" config.yaml
	tap_has err "batch_rank: 9 states instead of 112 in every batch" "uses a basis of split states"
	cmp w1.bin "w$ranks.bin" >cmp.out 2>&1
	tap_is $? 0 "gives the weights of one"
done
tap_exit 0 "and by workers" "$QCNN" train -q --fresh --set=train.epochs=2 --set=train.restarts=2 \
	--set=train.batch_size=112 --set=run.split=8 --hosts=local:2 -o w0.bin config.yaml
cmp w1.bin w0.bin >cmp.out 2>&1
tap_is $? 0 "that hold whole states"
tap_exit 0 "the weights are used without a split" "$QCNN" infer -q w1.bin

"$QCNN" run -q --const n=12 --data=five.csv --precision=double cluster.qcnn >whole
tap_exit 0 "12 qubits, 4 processes" "$QCNN" run -q --const n=12 --data=five.csv --precision=double --ranks=4 cluster.qcnn
for file in whole out; do
	sed 's/[^0-9.,-]//g; s/^1,//' "$file" | tr ',' '\n' | awk '{ printf "%.12f\n", $1 }' >"$file.digits"
done
diff whole.digits out.digits >diff.out
tap_is $? 0 "the numbers of one process to 12 digits"

# All gates, outputs that are read after another exchange, and shots.
cat >outputs.qcnn <<'END'
QCNN 1;
qubit[9] q;
h q;
for int i in [0:7] { cx q[i], q[i+1];  rz(0.3 * i) q[i+1];  ry(0.2) q[i]; }
observe x(q), y(q[0]) * x(q[8]) + 0.5 * z(q[3]), probs(q[7:8]),
	z(q[0]) * x(q[1]) * x(q[2]) * x(q[3]) * x(q[4]) * x(q[5]) * x(q[6]) * x(q[7]) * y(q[8]);
END
tap_exit 0 "a product of x and y on more qubits than a part has" "$QCNN" compile --emit=plan --ranks=8 outputs.qcnn
tap_has out "exchange   cx of local bit" "takes cx gates on the bits of ranks"
for emit in readouts probabilities "samples --shots=20"; do
	# shellcheck disable=SC2086
	"$QCNN" run -q --precision=double --ranks=8 --emit=$emit outputs.qcnn >eight
	# shellcheck disable=SC2086
	"$QCNN" run -q --precision=double --emit=$emit outputs.qcnn >one
	for file in one eight; do
		sed 's/[^0-9.,e-]//g' "$file" | tr ',' '\n' | awk 'NR > 1 { printf "%.11f\n", $1 + 1e-15 }' | sed 's/^-0.0*$/0.00000000000/' >"$file.digits"
	done
	diff one.digits eight.digits >diff.out
	tap_is $? 0 "${emit%% *} of 9 qubits by 8 processes"
done

# ---- the plan ----

tap_exit 0 "a plan for eight ranks" "$QCNN" compile --emit=plan --ranks=8 --const n=34 cluster.qcnn
tap_has out "split      8 ranks, 1 exchange forward" "takes one exchange for 34 qubits"
tap_has out "become local, and local bits" "and names the bits"
for circuit in sel qft; do
	"$QCNN" bench --circuit=$circuit --qubits=34 --show >$circuit.qcnn
	tap_exit 0 "a plan of $circuit" "$QCNN" compile --emit=plan --ranks=8 $circuit.qcnn
	tap_has out "split      8 ranks, 1 exchange forward" "takes one exchange, too"
done

# ---- what cannot be ----

tap_exit 78 "three processes" "$QCNN" run --ranks=3 --const n=12 --data=five.csv cluster.qcnn
tap_has err "a power of two" "are no power of two"
tap_exit 78 "more than states are planned for" "$QCNN" train --set=run.split=2 --ranks=4 config.yaml
tap_has err "set run.split=4" "with the key to set"
for case in 8:1 30:1 31:2 34:16; do
	tap_exit 78 "run.split: auto with ${case%:*} qubits" "$QCNN" train --set=run.method=statevector --set=run.split=auto --const=n=${case%:*} --ranks=64 config.yaml
	tap_has err "planned in ${case#*:} part" "is ${case#*:}"
done
tap_exit 78 "of tensors" "$QCNN" train --set=run.method=tensor --ranks=4 config.yaml
tap_has err "has no states that 4 processes could share: set run.method=statevector" "there are none"
tap_exit 78 "more parts than qubits allow" "$QCNN" run --ranks=64 outputs.qcnn
tap_has err "a state of 9 qubits is split over at most 32 ranks, not 64" "with the most that do"
for read in "observe x(q[0]) * x(q[1]) * y(q[2]) * x(q[3]) * x(q[4])" \
	"h q[0:1];  sdg q[2];  h q[2:4];  observe z(q[0]) * z(q[1]) * z(q[2]) * z(q[3]) * z(q[4])"; do
	printf 'QCNN 1;\nqubit[5] q;\nfor int i in [0:4] { ry(0.3 + 0.2 * i) q[i]; rz(0.4) q[i]; }\ncx q[0], q[3];\n%s;\n' "$read" >product.qcnn
	for ranks in 1 2; do
		"$QCNN" run -q --precision=double --ranks=$ranks product.qcnn >read
		sed 's/[^0-9.,e-]//g' read | tr ',' '\n' | awk 'NR > 1 { printf "%.11f\n", $1 }' >>products
	done
done
tap_is "$(sort products | uniq -c | awk '{ print $1 }')" 4 "a product of x and y on all qubits reads what one of z does behind gates"
tap_exit 78 "on the device ref" "$QCNN" run --device=ref --ranks=2 --const n=12 --data=five.csv cluster.qcnn
tap_has err "states on ref are not split" "which holds whole states"

# ---- a process that is lost ----

rm -rf runs
epochs() { cat runs/cluster-*/metrics.jsonl 2>/dev/null | wc -l; }
# more LEADER N: waits until more than N epochs are logged, or the training has ended.
more() { tap_until "[ \$(epochs) -gt $2 ] || [ -z \"\$(tap_left $1)\" ]"; }

long="--set=train.epochs=1000000 --set=train.restarts=1 --set=run.split=2"
# shellcheck disable=SC2086
"$QCNN" train -q $long --ranks=2 config.yaml 2>lost.err &
leader=$!
more $leader 2
kill -9 "$(pgrep -P $leader -f 'worker --follow')"
wait $leader
tap_is $? 75 "a training whose rank is killed ends with 75"
tap_has lost.err ": rank 1 has ended" "names the rank"
tap_has lost.err "the same command resumes behind step" "and says how to go on"
# shellcheck disable=SC2086
"$QCNN" train -q $long config.yaml 2>more.err &
leader=$!
more $leader "$(epochs)"
kill $leader
wait $leader
tap_is $? 75 "one process goes on"
tap_is "$(ls -d runs/cluster-* | wc -l)" 1 "in the same run"
# shellcheck disable=SC2086
"$QCNN" train -q $long --ranks=2 config.yaml 2>stopped.err &
leader=$!
more $leader "$(epochs)"
kill -STOP "$(pgrep -P $leader -f 'worker --follow')"
wait $leader
tap_is $? 75 "a rank that is stopped is as one that is lost"
tap_has stopped.err "rank 1 has not run for" "and is named"
# shellcheck disable=SC2086
"$QCNN" train -q $long --ranks=2 config.yaml 2>more.err &
leader=$!
more $leader "$(epochs)"
rank=$(pgrep -P $leader -f 'worker --follow')
kill -9 $leader
wait $leader 2>wait.err
tap_ok "no process is left when the one that leads is killed" tap_gone "$rank"
tap_done
