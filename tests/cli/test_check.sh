# SPDX-License-Identifier: Apache-2.0
# What qcnn check says that a model takes: the operations of state vectors and of tensors, and their memory.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# model QUBITS [PAIRS]: convolution and pooling of neighbours on an open chain, or on other pairs.
model() {
	cat <<-END
	const int n = $1;
	qubit[n] q;
	block join(float[2] t) a, b { ry(t[0]) a; ry(t[1]) b; cx a, b; ry(t[1]) a; rz(t[0]) b; }
	block merge(float[2] t) source, sink { cry(t[0]) source, sink; crz(t[1]) source, sink; discard source; }
	h q;
	let w = q;
	while (len(w) > 1) {
	  layer conv { param float[2] t; join(t) on ${2:-chain}(w); }
	  layer pool { param float[2] t; merge(t) on zip(w[0:2:-1], w[1:2:-1]); }
	  w = w[1:2:-1];
	}
	observe z(w);
	END
}
for n in 8 16 60 61; do model $n >m$n.qcnn; done

# ---- state vectors ----

for n in 8 16 60; do
	"$QCNN" compile --emit=plan --method=statevector m$n.qcnn >plan
	tap_exit 0 "check of $n qubits" "$QCNN" check m$n.qcnn
	tap_is "$(sed -n 's/^work *\(.*\) flops a sample, \(.*\) with its gradient (nominal)$/\1, \2/p' out)" \
		"$(sed -n 's/^flops .* a sample (nominal \(.*\))$/\1/p' plan)" "the nominal work is that of the plan"
done
tap_exit 0 "check of 61 qubits" "$QCNN" check m61.qcnn
tap_is "$(grep -c '^work' out)" 0 "no state vector has 2^61 amplitudes"

# ---- tensors ----

# On a ring tensors need many GiB, which some machines have.
model 96 ring >ring.qcnn
available=$("$QCNN" info --json | sed 's/.*"memory_available_bytes": \([0-9]*\).*/\1/')
need=$("$QCNN" compile --emit=plan ring.qcnn | sed -n 's/^memory *\(.*\) bytes for each thread, \(.*\) for all$/\1 \2/p')
tap_exit 0 "check of a ring" "$QCNN" check ring.qcnn
cp out ring.txt
tap_is "$(grep -c '^costly    conv\[[0-9]\]: .* flops a sample and .*B a thread if no two of its gates shared a qubit' out)" 3 \
	"names layers, with the memory without them"
case $(echo "$need $available" | awk '{ n = $1 + $2; print (n < 0.9 * $3 ? "fit" : n > 1.1 * $3 ? "large" : "close") }') in
fit)
	tap_has out " a thread: run.method: auto contracts them, without a state" "its tensors fit"
	tap_is "$(cat err)" "" "so that nothing is to be said of the state" ;;
large)
	tap_has out " a thread: more than the " "its tensors do not fit"
	tap_has err "warning[Q0407]: a state of this model does not fit this machine: it needs 2^99 bytes for 1 state of 96 qubits" "nor does a state"
	tap_has err "; its tensors need " "which says both" ;;
*) tap_skip "the memory available is about what they need" ;;
esac

# What run refuses in the same shell: some 600 MiB, and a state of 2 GiB.
if [ -z "${QCNN_SANITIZED:-}" ]; then
	cat >deep.qcnn <<-'END'
	QCNN 1;
	qubit[28] q;  h q;
	for int d in [1:8] { rzz(0.5) on ring(q);  rx(0.5) on q; }
	let e = 0;
	for int k in [0:26] { e -= z(q[k]) * z(q[k+1]); }
	observe e;
	END
	limited() { sh -c 'ulimit -v 300000; exec "$QCNN" "$@"' limited "$@"; }
	tap_exit 78 "run with little memory" limited run --method=tensor deep.qcnn
	tap_has err "the tensors need " "is refused"
	tap_exit 0 "check with as little" limited check deep.qcnn
	tap_has out " a thread: more than the " "says so"
	tap_has err "; its tensors need " "of both methods"
fi

# ---- JSON ----

# field NAME: of the object in out, its last one of this name.
field() { sed -n "s/.*\"$1\": \(\"[^\"]*\"\|[^],}]*\).*/\1/p" out; }
tap_exit 0 "--json of 8 qubits" "$QCNN" check --json m8.qcnn
tap_is "$(field method) $(field states_bytes) $(field tensor) $(field tensor_obstacle)" '"statevector" 4096 null null' "states of them are small"
tap_has out '"costly_layers": []' "and no layer is costly"
tap_exit 0 "of 61" "$QCNN" check --json m61.qcnn
cp out json
"$QCNN" check m61.qcnn >text
tap_is "$(field method)" '"tensor"' "of more, auto takes tensors"
numbers() { sed -n 's/^tensors   \(.*\) flops a sample, \(.*\) with its gradient, and \(.*\) MiB a thread: .*/\1 \2 \3/p' text; }
tap_is "$(sed 's/.*"tensor": //' json >out; echo "$(field flops_forward) $(field flops_gradient) $(field memory_thread_bytes)" | awk '{ printf "%.4g %.4g %.1f", $1, $2, $3 / 1048576 }')" \
	"$(numbers)" "with the numbers of the text"
"$QCNN" compile --emit=plan m61.qcnn >plan
tap_is "$(field networks), of $(field gates) gates, the largest of $(field largest_tensor | awk '{ printf "%.4g", $1 }')" \
	"$(sed -n 's/^networks   //p' plan), $(sed -n 's/^tensors    \(.*\) entries.*/\1/p' plan)" "and of the plan"
"$QCNN" check --json ring.qcnn >out 2>err
tap_is "$(sed 's/.*"costly_layers": \[{"layer": "\([^"]*\)", "flops_forward": \([^,]*\), .*/\1 \2/' out | awk '{ printf "%s: %.4g", $1, $2 }')" \
	"$(sed -n 's/^costly    \(.*\) flops a sample.*/\1/p' ring.txt | head -n 1)" "costly layers, the same first"
model 61 | sed 's/^let/ctrl(3) @ x q[0], q[1], q[2], q[3]; let/' >wide.qcnn
tap_exit 0 "where no method is possible" "$QCNN" check --json wide.qcnn
tap_is "$(field method) $(field tensor) $(field tensor_obstacle)" 'null null "a gate acts on more than 3 qubits, controls included"' "says why"
tap_is "$(field flops_forward)" null "no state has 2^61 amplitudes"

tap_done
