# SPDX-License-Identifier: Apache-2.0
# run, check, compile and weights: what they print, in each format.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
run() { "$QCNN" run -q --precision=double --isa=baseline "$@"; }
weights='[0.1, 0.2, 0.5, -0.25, 0.125]'
echo "$weights" >flat.json

run --device=ref bell.qcnn >out
echo '{"schema": 1, "outputs": [[1.0000000000000002, 0]]}' >expected
tap_same out expected "outputs of a Bell state"
run --emit=state bell.qcnn >out
echo '{"schema": 1, "state": {"re": [[0.7071067811865476, 0, 0, 0.7071067811865476]], "im": [[0, 0, 0, 0]]}}' >expected
tap_same out expected "its state"
run --emit=probabilities --format=csv bell.qcnn >out
printf 'sample,index,value\n0,0,0.5000000000000001\n0,1,0\n0,2,0\n0,3,0.5000000000000001\n' >expected
tap_same out expected "its probabilities as CSV"
grep -v observe bell.qcnn >blind.qcnn
"$QCNN" run blind.qcnn >out 2>err
tap_has err '--emit=state' "a model that observes nothing says how to see its state"
"$QCNN" run --emit=state blind.qcnn >out 2>err
tap_is "$(cat err)" '' "and shows it"
tap_exit 2 "amplitudes by tensors" "$QCNN" run --method=tensor --emit=state bell.qcnn
tap_has err "the method tensor computes none" "are refused"
run --emit=state --format=npy -o state.npy bell.qcnn
run --emit=state -o ending.npy bell.qcnn
tap_same ending.npy state.npy "the ending of --output is a format, too"
run --emit=state -o ending.csv bell.qcnn
run --emit=state --format=csv -o csv.npy bell.qcnn
tap_same csv.npy ending.csv "--format takes precedence"
tap_is "$(head -c 128 state.npy | tr -dc '[:print:]' | grep -c "NUMPY.*'descr': '<c16'.*'shape': (1, 4)")" 1 "its state as NPY"
tap_is "$(wc -c <state.npy)" 192 "and its size"

# By hand: z of RY(w)RX(x)|0> is cos(w)cos(x), here without the head.
run --emit=readouts -w flat.json -D new.csv two.qcnn >out
tap_is "$(cut -c1-40 out)" '{"schema": 1, "readouts": [[0.9900332889' "readouts"
for m in adjoint shift difference; do
	run --emit=readout-jacobian --gradient=$m --format=csv -w flat.json -D new.csv two.qcnn |
		awk -F, 'NR == 1 { print $1, $2, $3, $4; next } { printf "%s %s %.6f %.6f\n", $1, $2, $3 + 0, $4 + 0 }' |
		sed 's/-0\.000000/0.000000/' >"$m"
done
cat >expected <<'END'
sample readout "w[0]" "w[1]"
0 0 -0.099335 0.000000
0 1 0.000000 -0.194709
1 0 -0.095375 0.000000
1 1 0.000000 -0.182987
END
for m in adjoint shift difference; do
	tap_same $m expected "derivatives by $m"
done
run --emit=jacobian --format=csv -w flat.json -D new.csv two.qcnn >out
tap_is "$(head -n 1 out)" 'sample,output,"w[0]","w[1]","head.dense[0].kernel[0,0]","head.dense[0].kernel[1,0]","head.dense[0].bias[0]"' "all weights"
# Output = tanh(0.5 r0 - 0.25 r1 + 0.125): its derivative by the bias is 1 - output^2.
run --format=csv -w flat.json -D new.csv two.qcnn >outputs
awk -F, 'NR == FNR { y[$1] = $2; next } FNR > 1 && ($7 - (1 - y[$1] ^ 2)) ^ 2 > 1e-24 { print "wrong", $0 }' outputs out >wrong
tap_is "$(cat wrong)" "" "the derivative by the bias"
echo '[0.1, 0.2]' >circuit.json
tap_exit 0 "readouts need the circuit's weights alone" "$QCNN" run --emit=readouts -w circuit.json -D new.csv two.qcnn
tap_exit 65 "outputs need all" "$QCNN" run -w circuit.json -D new.csv two.qcnn
tap_exit 0 "initial weights" "$QCNN" run -D new.csv two.qcnn
tap_has err "no --weights: the model's initial weights of seed 0 are used" "are named"
tap_exit 2 "a model with inputs needs data" "$QCNN" run two.qcnn
tap_exit 2 "one without has no use for them" "$QCNN" run --data new.csv bell.qcnn
tap_exit 65 "a wrong width" "$QCNN" run --data samples.csv cluster.qcnn
tap_has err "cluster.qcnn:4:" "the model's place"
printf 'u,v,label\n0.1,0.2,ill\n' >named.csv
tap_exit 0 "a label may be a word" "$QCNN" run --data named.csv two.qcnn
printf 'u,v,s,t\n0.1,0.2,0.3,0.4\n' >more.csv
tap_exit 65 "too many columns" "$QCNN" run --data more.csv two.qcnn
tap_has err "help: all columns are inputs; to keep some of them, for example: cut -d, -f1-2" "a command helps, no key of a configuration"
cat >pair.qcnn <<'END'
QCNN 1;
circuit one { qubit[1] q; param float t = 0; ry(t) q; observe z(q); }
head (one a, one b) { dense(1); }
END
tap_exit 0 "states of several circuits" "$QCNN" run -q --emit=state pair.qcnn
tap_is "$(cat out)" '{"schema": 1, "a": {"re": [[1, 0]], "im": [[0, 0]]}, "b": {"re": [[1, 0]], "im": [[0, 0]]}}' "by name"
tap_exit 2 "do not fit into one array" "$QCNN" run -q --emit=state --format=npy pair.qcnn

# Programs in their three forms.
for m in bell cluster two; do
	"$QCNN" compile --emit=bytecode -o $m.qbc $m.qcnn
	"$QCNN" compile --emit=asm $m.qbc >$m.asm
	"$QCNN" compile $m.qcnn >direct.asm
	tap_same $m.asm direct.asm "$m: bytecode and model give the same text"
	"$QCNN" compile --emit=bytecode -o again.qbc $m.asm
	tap_same again.qbc $m.qbc "$m: and the text the same bytes"
done
run bell.qbc >out
run bell.qcnn >expected
tap_same out expected "bytecode runs"
head -c 100 bell.qbc >cut.qbc
tap_exit 65 "cut bytecode" "$QCNN" run cut.qbc
tap_exit 0 "a plan" "$QCNN" compile --emit=plan --isa=baseline bell.qcnn
tap_has out "circuit 2 qubits" "names the circuit"
tap_has out "limits     assumed" "and whose limits its times are from"
tap_has out "  expected   " "it says how long it is expected to take"
# Of small states, what is done once is no pass; with one output the last pass goes both ways; of x all outputs are a pass of their own.
"$QCNN" bench --circuit qcnn --qubits 12 --show >turning.qcnn
printf 'QCNN 1;\nqubit[20] q;\nparam float[20] t;\nry(each t) on q;\ncx on cycle(q);\nobserve x(q[0]), x(q[1]);\n' >apart.qcnn
# adds_up FIELD NAME: the passes of a plan have the operations or bytes that its head says, but for digits that are not printed.
adds_up() {
	awk -v f="$1" -v name="$2" '$1 == name { forward = $2; both = $4 } $1 ~ /^(forward|back|both)$/ { sum += $f; if ($1 == "forward") one += $f }
		$1 == "both" { turns = 1 }
		END { exit !(sum > both * 0.999 && sum < both * 1.001 && (turns || (one > forward * 0.999 && one < forward * 1.001))) }' plan
}
for model in turning apart; do
	"$QCNN" compile --emit=plan --method=statevector --isa=baseline $model.qcnn >plan
	tap_ok "$model: passes have the operations of the plan" adds_up 2 flops
	tap_ok "and its bytes" adds_up 4 bytes
	passes=$(sed -n 's/^bytes .* in \([0-9]*\) and \([0-9]*\) passes over the state$/\1 \2/p' plan)
	tap_is "$(grep -c '^    \(forward\|both\) .* s$' plan) $(grep -c '^    [a-z]* .* flops, .* bytes, .* s$' plan)" "$passes" "a line for each"
done
tap_has plan "  outputs " "readouts that no block gives are one"
# Where there is an emulated GPU, its program streams less memory, whose first touch may take seconds.
measures=$top_builddir/tests/gpu/qcnn-fast
[ -x "$measures" ] || measures=$QCNN
EMU_HOST_BYTES=200000000 tap_exit 0 "a plan by this machine's limits" "$measures" compile --emit=plan --measure --isa=baseline bell.qcnn
tap_has out "limits     measured" "which were measured"
tap_exit 0 "a plan of the reference" "$QCNN" compile --emit=plan --device=ref bell.qcnn
tap_ok "which has no stages to expect" test -z "$(grep expected out)"
tap_exit 2 "an unknown letter" "$QCNN" compile -d Z bell.qcnn
tap_exit 2 "an unknown pass" "$QCNN" compile --no-pass=nothing bell.qcnn
tap_exit 2 "an unknown pass of run" "$QCNN" run --no-pass=nothing bell.qcnn
tap_exit 2 "a pass that must run" "$QCNN" compile --no-pass=unroll bell.qcnn
letters=$("$QCNN" compile -d ZZ bell.qcnn 2>&1 | grep -o '([a-z])' | tr -d '()')
tap_ok "passes have letters" test -n "$letters"
for letter in $letters; do
	tap_exit 0 "dump after pass $letter" "$QCNN" compile -d $letter bell.qcnn
	tap_ok "it is not empty" test -s err
done
tap_exit 2 "no constant" "$QCNN" compile --const n bell.qcnn
tap_exit 0 "a constant" "$QCNN" check --const n=6 cluster.qcnn
tap_has out "circuit   6 qubits" "is changed"
tap_exit 65 "an unknown constant" "$QCNN" check --const m=6 cluster.qcnn
tap_has err 'error[Q0229]: the model has no constant `m`' "it is named"
tap_exit 65 "a fraction for an int" "$QCNN" check --const n=3.5 cluster.qcnn
cat >expected <<'END'
error[Q0229]: `n` cannot be set to `3.5`
 --> --const:1:1
  |
1 | n=3.5
  | ^^^^^
 ::: cluster.qcnn:2:11
  |
2 | const int n = 4;
  |           - an int is declared here

1 error
END
tap_same err expected "shows where it is declared"

tap_exit 0 "check" "$QCNN" check two.qcnn
grep -v '^work\|^matrices' out >got
cat >expected <<'END'
circuit   2 qubits, 4 operations, 2 readouts
head      dense 2 -> 1
input     x [2]
param     w [2] values
param     head.dense[0].kernel [2, 1] glorot_uniform
param     head.dense[0].bias [1] values
weights   5
outputs   1
state     32 bytes in single precision, 64 bytes in double; a gradient takes two
END
tap_same got expected "its text"
tap_exit 0 "check --json" "$QCNN" check --json two.qcnn
tap_has out '"circuits": [{"name": "", "qubits": 2, "operations": 4, "applies": 4, "readouts": 2}], ' "its circuits"
tap_has out '"params": {"w": {"shape": [2], "init": "values", "frozen": false}' "its JSON"
tap_exit 0 "check of a configuration" "$QCNN" check config.yaml
tap_has out "data      30 samples for train" "counts samples"
tap_exit 2 "--set without a configuration" "$QCNN" check --set run.seed=1 two.qcnn
printf 'QCNN 1;\nqubit[2] q;\ncnott q[0], q[1];\nobserve z(q);\n' >bad.qcnn
for command in "check" "run" "compile"; do
	tap_exit 65 "$command of a faulty model" "$QCNN" $command bad.qcnn
	tap_has err 'bad.qcnn:3:1' "its place"
done
tap_exit 65 "as JSON" "$QCNN" check --error-format=json bad.qcnn
tap_is "$(grep -c '^{"schema": 1, "severity": "error", "code": "Q[0-9]*", .*"line": 3, "column": 1,.*}$' err)" 1 "one object"
tap_exit 65 "as one line" "$QCNN" check --error-format=short bad.qcnn
tap_is "$(grep -c '^bad.qcnn:3:1: error\[Q[0-9]*\]: ' err)" 1 "its form"

# Weights.
"$QCNN" train -q -o w.bin table.yaml
tap_exit 0 "show" "$QCNN" weights show w.bin
tap_has out "w [2]" "has the paths"
tap_exit 0 "show --json" "$QCNN" weights show --json w.bin
tap_is "$(grep -c '^{"schema": 1, "params": {"w": {"shape": \[2\], "values": \[.*"metadata": {.*"config": {"data":.*}}$' out)" 1 "its form"
tap_is "$(sed 's/.*"metadata"//' out | grep -c 'seconds\|threads\|runs')" 0 "no times, threads or folders"
for ending in npz json; do
	tap_exit 0 "convert to .$ending" "$QCNN" weights convert w.bin "w.$ending"
	run -w "w.$ending" -D new.csv two.qcnn >"by-$ending"
	run -w w.bin -D new.csv two.qcnn >expected
	tap_same "by-$ending" expected "the same outputs with it"
done
tap_exit 2 "another ending" "$QCNN" weights convert w.bin w.txt
tap_exit 2 "another action" "$QCNN" weights diff w.bin
tap_exit 2 "show without a file" "$QCNN" weights show
head -c 300 w.bin >cut.bin
tap_exit 65 "cut weights" "$QCNN" weights show cut.bin
tap_exit 65 "of another model" "$QCNN" run -w w.bin -D samples.csv cluster.qcnn

# Subnormal numbers, as the manual says of the devices.
echo 'qubit[2] q; ry(2e-160) q[0]; ry(2e-160) q[1]; observe z(q);' >small.qcnn
amplitude() { "$QCNN" run -q --format=csv --emit=state "$@" small.qcnn | awk -F, 'NR == 5 { print $3 }'; }
tap_is "$(amplitude --device=ref)" 1e-320 "ref keeps an amplitude of 1e-320"
tap_is "$(amplitude --device=cpu --precision=double)" 0 "cpu makes it 0"
sed -i 's/2e-160/4e-154/g' small.qcnn
tap_is "$(amplitude --device=cpu --precision=double)" "$(amplitude --device=ref)" "both keep 4e-308"
sed -i 's/4e-154/2e-22/g' small.qcnn
tap_is "$(amplitude --device=cpu --precision=single)" 0 "cpu in single precision makes 1e-44 0"

# What is not finite has a place in the model.
printf '%s\n' 'qubit[2] q;' 'input float x;' 'input float y;' 'ry(y) q[0];' 'h q[1];' ' amplitude_damping(x) q[0];' \
	'rx(1 / (y - 0.5) + log(y)) q[1];' 'observe z(q);' >places.qcnn
for case in '1.5,1=line 6, column 2 of the model: `arcsin` of 1.22474 is not a real number' \
	'-0.5,1=line 6, column 2 of the model: `sqrt` of -0.5 is not a real number' \
	'0.5,0.5=line 7, column 1 of the model: `div` of 1 and 0 is not finite' \
	'0.5,-1=line 7, column 1 of the model: `log` of -1 is not a real number'; do
	printf 'x,y\n0.5,1\n%s\n' "${case%%=*}" >places.csv
	tap_exit 1 "inputs ${case%%=*}" "$QCNN" run -q --data=places.csv places.qcnn
	tap_has err "sample 1: readout 0 is not finite: ${case#*=}" "says where"
done

echo 'qubit q; input float x; let a = x; for int k in [1:50000] { a = a * 1.5 + 0.1; } ry(a) q; observe z(q);' >deep.qcnn
printf "x\n0.5\n" >deep.csv
tap_exit 1 "50,000 operations behind it" "$QCNN" run -q --data=deep.csv deep.qcnn
tap_has err "line 1, column 82 of the model: \`mul\` of" "the first is found"

# An infinite derivative is no 0, also where the observable is stationary.
for angle in 'sqrt(t)' 't**0.5' 'sqrt(t) + 0.5' 'arccos(1 - t)'; do
	echo "qubit q; param float t = 0; ry($angle) q; observe z(q);" >steep.qcnn
	for gradient in adjoint shift difference; do
		tap_exit 1 "ry($angle) at t = 0 by $gradient" "$QCNN" run -q --emit=jacobian --gradient=$gradient steep.qcnn
		tap_has err 'not finite' "its derivative is not finite"
	done
done
echo 'qubit q; param float t = 0.5; const float x = 0; ry(sqrt(x)*t) q; observe z(q);' >flat.qcnn
tap_exit 0 "a constant has no derivative" "$QCNN" run -q --emit=jacobian flat.qcnn

# Failing outputs.
if [ -c /dev/full ]; then
	for command in "run -q bell.qcnn" "--help" "explain" "check two.qcnn"; do
		got=0
		"$QCNN" $command >/dev/full 2>err || got=$?
		tap_is $got 74 "$command > /dev/full"
		tap_has err "cannot write to the standard output" "says so"
	done
	tap_exit 74 "--output=/dev/full" "$QCNN" run -q -o /dev/full bell.qcnn
else
	tap_skip "no /dev/full here"
fi
# A pipe whose reader has ended, as head does: output that is not read is no error.
mkfifo read
: <read &
exec 3>read
wait $!
for command in "run -q bell.qcnn" "--help" "explain" "check two.qcnn"; do
	got=0
	"$QCNN" $command >&3 2>err || got=$?
	tap_is "$got $(wc -c <err)" "141 0" "$command, and the reader has ended"
done
exec 3>&-
tap_exit 73 "an output that cannot be made" "$QCNN" run -q -o nowhere/x.json bell.qcnn
# A phase under measured qubits alone changes nothing that can be seen.
for phase in 'gphase(0.3);' '{ if (measure q[1]) gphase(0.3); }'; do
	echo "qubit[2] q; ry(0.4) q[0]; h q[1]; if (measure q[0]) $phase observe z(q);" >phase.qcnn
	tap_is "$("$QCNN" run -q --format=csv --precision=double phase.qcnn | awk -F, 'NR == 2 { printf "%.9f %.9f", $2, $3 ^ 2 }')" \
		"0.921060994 0.000000000" "if (measure q[0]) $phase"
done
tap_done
