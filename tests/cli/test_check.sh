# SPDX-License-Identifier: Apache-2.0
# What qcnn check says that a model takes: the operations of state vectors and of tensors, and their memory.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# model QUBITS: convolution and pooling of neighbours on an open chain.
model() {
	cat <<-END
	const int n = $1;
	qubit[n] q;
	block merge(float[2] t) source, sink { cry(t[0]) source, sink; crz(t[1]) source, sink; discard source; }
	h q;
	let w = q;
	while (len(w) > 1) {
	  layer conv { param float t; rxx(t) on chain(w); }
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
tap_is "$(grep -c '^work' out)" 0 "no state vector has so many amplitudes"

tap_done
