# SPDX-License-Identifier: Apache-2.0
# What compile --emit=plan predicts of states that are split over machines: bytes and messages by hand, and their seconds.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# ---- 20 qubits, each with one trained gate: one exchange, of two bits where there are four ranks ----

cat >layer.qcnn <<'END'
QCNN 1;
qubit[20] q;
param float[20] w;
for int i in [0:19] { ry(w[i]) q[i]; }
observe z(q);
END
plan() { "$QCNN" compile --emit=plan --isa=baseline "$@"; }
tap_exit 0 "a plan for four ranks" plan --ranks=4 --link=0.001,500000 layer.qcnn
# A part has 2^18 amplitudes of 8 bytes: three quarters are 1572864 bytes, to three partners, 1.573 s and three times 0.5 s.
tap_has out 'link       0.001 GB/s, 5e+05 us a message' "has the link"
tap_has out 'each rank sends 1.573e+06 bytes of a state in 3 messages' "three quarters of a part, to three partners"
tap_has out '3.073 s to send 1.573e+06 bytes in 3 messages' "in the time of bytes and messages"
# The backward pass sends two states: three in all.
tap_has out '1 backward, 3.146e+06 bytes of two states' "twice that in the backward pass"
tap_has out '9.219 s to send 4.719e+06 bytes in 9 messages' "and three times with the gradient"
for line in '  forward' '  with gradient'; do
	all=$(sed -n "s/^$line  *\([^ ]*\) s: .*/\1/p" out)
	compute=$(sed -n "s/^$line .*: \([^ ]*\) s of computing.*/\1/p" out) send=$(sed -n "s/^$line .*computing, \([^ ]*\) s to send.*/\1/p" out)
	rest=$(sed -n "s/^$line .*messages, \([^ ]*\) s for matrices.*/\1/p" out)
	tap_ok "$line: $all s is at most $compute s, $send s and $rest s, one after the other" awk -v a="$all" -v b="$compute" -v c="$send" -v d="$rest" \
		'BEGIN { exit !(b > 0 && d > 0 && a > b + d && a > 0.999 * (c + d) && a < 1.001 * (b + c + d)) }'
done
memory=$(sed -n 's/^  with gradient .*; \([^ ]*\) bytes of memory.*/\1/p' out)
tap_ok "two states of a part in memory: $memory bytes" awk -v m="$memory" 'BEGIN { exit !(m > 2 * 2097152) }'
tap_exit 0 "without a latency" plan --ranks=4 --link=0.001 layer.qcnn
tap_has out '1.573 s to send 1.573e+06 bytes in 3 messages' "bytes alone take time"
tap_exit 0 "in double precision" plan --ranks=4 --link=0.001 --precision=double layer.qcnn
tap_has out '3.146 s to send 3.146e+06 bytes' "twice the bytes"

# An exchange is beside the stages before and behind it, in pieces of parts of 2^16 bytes: eight. It waits for the first piece of one, and the
# other for its last piece.
tap_exit 0 "a slow machine and a slower link" plan --ranks=4 --link=0.01 --machine=single=1 layer.qcnn
tap_ok "all but an eighth of the stages beside exchanges is hidden" awk '
	/^  forward .* to send/ { f = $2; send[0] = number("send"); rest[0] = number("matrices") }
	/^  with gradient .* to send/ { g = $3; send[1] = number("send"); rest[1] = number("matrices") }
	/^  stage/ { n = $2 } /^    forward/ { s[n] = $6 } /^    back/ { b[n] = $6 }
	function number(word, k) { for (k = 1; $k != word; k++); return $(k - 3) }
	function is(x, y) { return x > 0.998 * y && x < 1.002 * y }
	END { want = s[0] + s[1] / 8 + send[0] + s[2] / 8
		exit !(n == 2 && is(f, want + rest[0]) && is(g, want + rest[1] + b[2] / 8 + send[1] - send[0] + b[1] / 8 + b[0])) }' out
sed 's/20/16/; s/\[20\]/[16]/; s/19/15/' layer.qcnn >small.qcnn
tap_exit 0 "parts of 2^17 bytes" plan --ranks=4 --link=0.01 --machine=single=1 small.qcnn
tap_ok "are exchanged while nothing is computed" awk '/^  forward .* to send/ { for (k = 1; $k != "send"; k++); sum = $4 + $(k - 3); for (; $k != "matrices"; k++); sum += $(k - 3); exit !($2 > 0.998 * sum && $2 < 1.002 * sum) }' out

# A trained gate behind gates on all qubits is in the last segment: nothing before it has a backward pass.
cat >late.qcnn <<'END'
QCNN 1;
qubit[20] q;
param float w;
for int i in [0:19] { ry(0.1) q[i]; }
for int i in [1:19] { cz q[0], q[i]; }
ry(w) q[0];
observe z(q);
END
tap_exit 0 "one trained gate at the end" plan --ranks=4 --link=1 --no-pass=cone late.qcnn
tap_has out '1 exchange forward' "one exchange forward"
tap_has out '; 0 backward' "and none in the backward pass"

# ---- each rank computes its part ----

"$QCNN" bench --circuit=sel --layers=3 --qubits=30 --show >sel.qcnn
expected() { sed -n 's/^  expected  *\([^ ]*\) s forward, \([^ ]*\) s.*/\1 \2/p' out; }
tap_exit 0 "a plan of one machine" plan --ranks=8 sel.qcnn
tap_ok "has no link" sh -c '! grep -q "^link" out'
whole=$(expected)
tap_exit 0 "of eight" plan --ranks=8 --link=10 sel.qcnn
part=$(expected)
tap_ok "take an eighth of the time, and more while qubits that number them are |0>: $whole, $part" awk -v w="$whole" -v p="$part" \
	'BEGIN { split(w, a, " "); split(p, b, " "); for (k = 1; k < 3; k++) if (b[k] < 0.99 * a[k] / 8 || b[k] > 1.5 * a[k] / 8) exit 1 }'

# Bits at low places would be exchanged in too many parts: in two groups, each less than a part of 2^37 bytes.
"$QCNN" bench --circuit=sel --layers=3 --qubits=46 --show >deep.qcnn
tap_exit 0 "many exchanges" plan --ranks=4096 --forward --link=10 deep.qcnn
tap_ok "bits at once, or in two groups" awk '
	function near(want) { return bytes > 0.999 * want && bytes < 1.001 * want }
	/^  exchange/ { for (n = 0; $(4 + n) != "become"; n++); for (k = 1; k < NF; k++) { if ($k == "sends") bytes = $(k + 1); if ($k == "in") messages = $(k + 1) }
		if (messages == 2 ^ n - 1) { a++; good = near(2 ^ 37 * (1 - 2 ^ -n)) } else b++
		for (k = 1; k < n && messages < 2 ^ n - 1; k++) if (messages == 2 ^ k + 2 ^ (n - k) - 2) good = near(2 ^ 37 * (2 - 2 ^ -k - 2 ^ (k - n)))
		bad += !good; good = 0; sum += messages }
	/^  forward .* to send/ { for (k = 1; k < NF; k++) if ($k == "in") all = $(k + 1) }
	END { exit !(a && b && !bad && all == sum) }' out

tap_exit 0 "on a machine that computes slowly" plan --machine=single=1,stream=33 layer.qcnn
tap_has out 'stream 33 GB/s in place, ' "with these limits"
flops=$(sed -n 's/^flops  *\([^ ]*\) forward.*/\1/p' out)
tap_ok "takes the time of its operations" awk -v s="$(expected)" -v f="$flops" 'BEGIN { split(s, a, " "); exit !(f > 1e6 && a[1] > f / 1e9) }'

# ---- a dry run ----

cp -r "$top_srcdir/examples/cluster" .
dry() { "$QCNN" train --dry-run --set=run.split=4 --set=train.batch_size=112 "$@" cluster/config.yaml; }
tap_exit 0 "a dry run of split states" dry
tap_has out 'split     over 4 processes: ' "names the exchanges"
tap_ok "and predicts nothing without a link" sh -c '! grep -q "^link" out'
# Of nine states, by batch_rank.
tap_exit 0 "with a link" dry -q --json --link=0.001,500000
tap_ok "a step takes the time of its states, with all bytes and messages" awk '
	function value(key, k) { k = index(split_part, "\"" key "\": "); return k ? substr(split_part, k + length(key) + 4) + 0 : -1 }
	{ split_part = substr($0, index($0, "\"split\": ")); send = value("send_seconds"); want = (value("forward_bytes") + value("backward_bytes")) / 1e6 + 0.5 * value("messages")
	state = value("state_seconds"); compute = value("compute_seconds"); sums = value("sums_seconds")
	exit !(value("states_per_step") == 9 && want > 1 && (send / want - 1) ^ 2 < 1e-6 && compute > 0 && sums > 0 && state > send + sums &&
		state < 1.000001 * (compute + send + sums) && (value("step_seconds") / (9 * state) - 1) ^ 2 < 1e-6 && value("processes") == 4) }' out
tap_exit 2 "a link without a dry run" "$QCNN" train --link=1 cluster/config.yaml
tap_exit 2 "a link of states that are not split" "$QCNN" train --dry-run --link=1 cluster/config.yaml
tap_exit 2 "a wrong link" dry --link=fast
tap_has err "microseconds a message, if any" "is explained"

# ---- more ranks than can compute ----

"$QCNN" bench --circuit=qcnn --qubits=46 --show >qcnn46.qcnn
tap_exit 0 "46 qubits on 65,536 ranks" plan --ranks=65536 --link=25,2 qcnn46.qcnn
# Parts of 2^30 amplitudes: 2^33 (1 - 2^-16) bytes, 0.3436 s, and 65535 messages of 2 us, 0.1311 s.
tap_has out '0.4747 s to send 8.59e+09 bytes in 65535 messages' "one exchange, of all rank bits"
tap_has out 'split      65536 ranks, 1 exchange forward' "with all ranks"
tap_exit 2 "131,072 ranks" plan --ranks=131072 qcnn46.qcnn
tap_exit 2 "65,536 processes" "$QCNN" run --ranks=65536 qcnn46.qcnn
tap_exit 78 "a number that is no power of two" plan --ranks=65535 qcnn46.qcnn
tap_has err 'a power of two' "is refused"

if [ -n "${QCNN_SANITIZED:-}" ]; then
	: # 48 large plans: the same text, and slow
elif "$QCNN" compile --emit=plan --isa=avx512 layer.qcnn >plan 2>&1; then
	sh "$top_srcdir/tests/bench/split.sh" "$QCNN" >page 2>err
	tap_same page "$top_srcdir/tests/bench/split.md" "tests/bench/split.md is what plans say now (else: make bench-split)"
else
	tap_skip "tests/bench/split.md: this machine lacks avx512"
fi

for wrong in 0 -1 x 1, 1,x 1,-1 1x 1,2,3 inf nan; do
	tap_exit 2 "--link=$wrong" plan --ranks=4 --link=$wrong layer.qcnn
done
tap_has err '--link=nan: give GB/s' "says what to give"
for wrong in stream stream= stream=0 memory=1 single=1,; do
	tap_exit 2 "--machine=$wrong" plan --machine=$wrong layer.qcnn
done
tap_has err 'limits are stream, write, l2, single and double' "names the limits"
tap_exit 2 "--machine with --measure" plan --measure --machine=single=1 layer.qcnn
tap_exit 2 "a link without ranks" plan --link=1 layer.qcnn
tap_has err '--link is for states that are split: set run.split (train), or give --ranks' "is refused"
tap_done
