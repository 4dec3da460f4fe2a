# SPDX-License-Identifier: Apache-2.0
# qcnn bench: what it prints, refuses and compares; qsim's circuits.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

quick="--no-limits --runs 3 --threads 1"

# ---- results for programs ----

tap_exit 0 "--json" "$QCNN" bench $quick --circuit qcnn --qubits 8 --gradient --batch 16 --json
cp out old.json
# Without /sys the machine has no list of caches, whose keys are these.
cp out keys.json
[ -d /sys/devices/system/cpu/cpu0/cache ] || echo '"level": "shared_by": "bytes":' >>keys.json
tap_is "$(grep -o '"[a-z_0-9]*":' keys.json | LC_ALL=C sort -u | tr -d '":' | tr '\n' ' ')" \
	"allocate_seconds backward batch bytes caches chain circuit combine compile_seconds deviation device double doubt each_pass encoding exchange first_seconds floor_seconds flops_executed flops_nominal forward gates gates_s gb_s gflop_s gflop_s_nominal gradient high isa isa_available largest_qubits layers level limit limit_seconds limits losses low machine matrices max mean measured median memory_available_bytes memory_bytes memory_limit_bytes method min numa_nodes omp_places optimizations parts_seconds passes precision processor processors qubits reduce reliable results runs schema seconds seed shape share_of_floor share_of_limit shared_by shortcuts single slopes start start_steps states sums threads threads_rule unit_bytes version wait waiting weights workers " \
	"its keys"
tap_has out '"limits": null' "no limits when they are not measured"
tap_has out '"circuit": "qcnn", "qubits": 8, "layers": 0, "start": "zero", "gates": 45, "weights": 63, "batch": 16, "gradient": true, "precision": "single", "threads": 1, "workers": 0, "device": "cpu"' \
	"the case"
tap_has out '"flops_nominal": 11010048' "nominal work: 21 blocks, 128 flops an amplitude, 16 samples"
tap_has out '"runs": 3}' "as many runs as asked for"
tap_has out '"parts_seconds": {"matrices": null, ' "parts of a call are measured where they are asked for"
part() { sed -n 's/.*"parts_seconds": {[^}]*"'"$1"'": \([-0-9.e]*\).*/\1/p' out; }
tap_exit 0 "--parts" "$QCNN" bench $quick --circuit qcnn --qubits 8 --gradient --batch 40 --parts --json
tap_is "$(for p in matrices encoding states losses chain sums; do part $p; done | awk '$1 > 0 { n++ } END { print n }')" 6 "every part takes time"
tap_exit 0 "--parts of threads" "$QCNN" bench --no-limits --runs 20 --threads 2 --circuit qcnn --qubits 8 --batch 64 --parts --json
tap_is "$(part chain | awk '{ print ($1 >= 0 && $1 < 1e-5) }')" 1 "without a gradient there is no chain rule"
tap_is "$({ part waiting; part states; } | awk '{ t[NR] = $1 } END { print (t[1] > -0.1 * t[2]) }')" 1 "threads side by side count once"
# Forward and back: every stage; readouts and lambda unless the blocks of the last stage give them.
tap_exit 0 "passes of a shared state" "$QCNN" bench $quick --runs 1 --qubits 18 --gradient --parts --json
tap_is "$(grep -o '"stage": [0-9]*, "back": false, "pass_seconds": [0-9.e-]*, "expected_seconds": null' out | wc -l)" \
	"$("$QCNN" bench --qubits 18 --show >sel18.qcnn && "$QCNN" compile --emit plan --method statevector sel18.qcnn | grep -c '^  stage')" "each stage forward"
tap_is "$(grep -c '"stage": null, "back": true' out)" 0 "products of Z are summed, and lambda made of them, in the last stage"
awk_sum='{ n = split($0, part, "\"pass_seconds\": "); for (k = 2; k <= n; k++) sum += part[k] } /"pass_seconds"/ { split($0, p, "\"states\": "); states = p[2] + 0 } END { print (sum > 0.5 * states && sum < 1.01 * states) }'
tap_is "$(awk "$awk_sum" out)" 1 "they are most of the time of states"
sed 's/observe z/observe x/' sel18.qcnn >selx18.qcnn
tap_exit 0 "passes where X is observed" "$QCNN" bench $quick --runs 1 --circuit selx18.qcnn --gradient --parts --json
tap_has out '"stage": null, "back": false' "readouts"
tap_has out '"stage": null, "back": true' "lambda"
tap_exit 0 "passes of one output" "$QCNN" bench $quick --runs 1 --circuit qcnn --qubits 18 --gradient --parts --json
# Every stage goes back but one that turns; readouts only forward.
tap_is "$(($(grep -o '"back": false' out | wc -l) - $(grep -o '"back": true' out | wc -l)))" "$((1 + $(grep -o '"turns": true' out | wc -l)))" \
	"a last stage that turns is one pass forward and back"
tap_is "$(awk "$awk_sum" out)" 1 "and has the time of both"
tap_exit 0 "passes for people" "$QCNN" bench --runs 1 --qubits 18 --threads 1 --parts
tap_is "$(grep -c '^  pass stage [0-9] forward: .*; [0-9]* % of stream, [0-9]* % of multiply-add, expected ' out)" 2 "with shares of limits and what the plan expects"
tap_exit 0 "--parts for people" "$QCNN" bench $quick --qubits 4 --parts
tap_is "$(grep -c '^  parts of .*: matrices .* %), encoding .*, wait .* %)$' out)" 1 "a line a case"

tap_exit 0 "limits and shares" "$QCNN" bench --runs 3 --qubits 6 --threads 1 --json
tap_is "$(grep -c '"stream_gb_s": [0-9.]*, "fma_gflop_s": [0-9.]*, "by_threads": \[{"threads": 1, .*}\]}' out)" 1 "limits are measured"
tap_is "$(grep -c '"stream_gb_s": [0-9.]*, "write_gb_s": [0-9.]*, "l2_gb_s_per_core": [0-9.]*, "fma_gflop_s_single": [0-9.]*, "fma_gflop_s_double": [0-9.]*}' out)" 1 \
	"writing to memory is one of them"
tap_is "$(grep -c '"limit": "fma", "limit_seconds": [0-9.e-]*, "share_of_limit": [0-9.e-]*, "floor_seconds": [0-9.e-]*, "share_of_floor": [0-9.e-]*, "start_steps": 0, "seed": [0-9]*, "each_pass": null}' out)" 1 "a share of them"

# A unit of four samples is one thread's: half of one takes as long as all of it. Limits are measured again between the cases where
# a share of them is in doubt.
floors() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { f[NR] = $at["floor_seconds"]; l[NR] = $at["limit_seconds"] }
		END { printf "%.3f %.3f %.3f %d", f[3] / f[2], f[4] / f[2], f[5] / f[2], (f[4] >= 0.999 * l[4] && f[4] < 100 * l[4]) }' out
}
units_count() { [ "$(floors)" = "1.000 1.000 2.000 1" ]; }
tap_once_of_ten units_count "$QCNN" bench --runs 1 --qubits 6 --circuit brickwork --gradient --threads 2 --isa baseline --batch 1,4,8,9 --csv
tap_result $? "the floor of a plan counts units that threads wait for, and is no less than the limit ($(floors))"
# Rates are those of the fastest call; the mean lies between it and the slowest.
tap_exit 0 "calls that differ" "$QCNN" bench --runs 50 --circuit qcnn --qubits 8 --threads 1 --gradient --batch 3 --csv
cat >rates.awk <<'END'
function near(x, y) { return x > 0.999999 * y && x < 1.000001 * y }
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
	t = $at["seconds_min"]
	print near($at["gates_s"], $at["gates"] * $at["batch"] / t), near($at["gb_s"], $at["bytes"] / t / 1e9),
		near($at["gflop_s"], $at["flops_executed"] / t / 1e9), near($at["gflop_s_nominal"], $at["flops_nominal"] / t / 1e9),
		near($at["share_of_limit"], $at["limit_seconds"] / t), near($at["share_of_floor"], $at["floor_seconds"] / t),
		(t < $at["seconds_median"] && t < $at["seconds_mean"] && $at["seconds_mean"] < $at["seconds_max"])
}
END
tap_is "$(awk -F, -f rates.awk out)" "1 1 1 1 1 1 1" "rates and shares are those of the fastest"
tap_exit 0 "no limits, no floor" "$QCNN" bench $quick --qubits 6 --json
tap_has out '"floor_seconds": null, "share_of_floor": null' "it is null"

tap_exit 0 "--csv" "$QCNN" bench $quick --circuit ghz --circuit qft --qubits 4-8+2,9 --threads 1,2 --batch 1,3 --csv
tap_is "$(sed 1d out | cut -d, -f1-3,7,10 | tr -d '"' | tr '\n' ' ' | cut -c1-90)" \
	"ghz,4,0,1,1 ghz,4,0,1,2 ghz,4,0,3,1 ghz,4,0,3,2 ghz,6,0,1,1 ghz,6,0,1,2 ghz,6,0,3,1 ghz,6," "lists and ranges, in order"
tap_is "$(wc -l <out)" 33 "every combination is a case"
tap_is "$(awk -F, '{ print NF }' out | sort -u)" 61 "as many columns as heads"
tap_exit 0 "--markdown" "$QCNN" bench $quick --qubits 4 --markdown
tap_is "$(sed -n 2p out | tr -d -- '-:' )" "||||||||||||||" "a table"
tap_exit 0 "as text" "$QCNN" bench $quick --qubits 4 --layers 2,3 --precision double
tap_is "$(grep -c '^sel double  ' out)" 2 "a row a case"
tap_has out "planned and allocated in" "allocation is told apart"

# ---- circuits ----

for c in qcnn sel qft qv brickwork; do
	tap_exit 0 "$c, gradient" "$QCNN" bench $quick --circuit $c --qubits 2-5 --gradient
done
tap_exit 0 "random and ghz" "$QCNN" bench $quick --circuit random --circuit ghz --qubits 2,7,12 --device ref
tap_exit 0 "--optimizations" "$QCNN" bench $quick --circuit random --qubits 6 --optimizations --isa baseline
tap_exit 0 "as much is done with each call" "$QCNN" bench $quick --circuit random --circuit qcnn --qubits 8 --isa baseline --json
tap_is "$(grep -o '"start_steps": [0-9]*' out | tr '\n' ' ')" '"start_steps": 0 "start_steps": 16 ' "of a circuit that is constant, and where it begins so"
tap_is "$(grep -c '"flops_executed": [1-9]' out)" 2 "and counted"
tap_exit 0 "in words" "$QCNN" bench $quick --circuit qcnn --qubits 8
tap_has out '; once a call for all samples: 16 constant steps at the start' "behind the table"
plain() { sed -e '/^spans/,$d' -e 's/ *;.*//' -e 's/ span [0-9]*//' -e '/register/d'; }
"$QCNN" bench --circuit qcnn --qubits 12 --show >shown.qcnn
"$QCNN" compile shown.qcnn | plain >shown.asm
"$QCNN" compile --const n=12 "$top_srcdir/examples/cluster/cluster.qcnn" | plain >example.asm
tap_same shown.asm example.asm "qcnn is the model of examples/cluster"
"$QCNN" bench --circuit random --qubits 9 --layers 20 --seed 3 --show >one
"$QCNN" bench --circuit random --qubits 9 --layers 20 --seed 3 --show >two
"$QCNN" bench --circuit random --qubits 9 --layers 20 --seed 4 --show >three
tap_same one two "a seed gives the same circuit"
tap_is "$(cmp -s one three && echo same)" "" "another gives another"
tap_exit 0 "--start=product" "$QCNN" bench $quick --start product --circuit qcnn --circuit sel --circuit qft --circuit ghz --qubits 4 --csv
tap_is "$(sed 1d out | cut -d, -f1,4,5 | tr -d '"' | tr '\n' ' ')" "qcnn,product,25 sel,product,12 qft,product,16 ghz,product,8 " \
	"a rotation of every qubit more, but for qft, which begins so"
tap_exit 0 "a model by file" "$QCNN" bench $quick --circuit "$top_srcdir/examples/cluster/cluster.qcnn" --qubits 3,4 --gradient --csv
tap_is "$(sed 1d out | cut -d, -f2 | tr '\n' ' ')" "3 4 " "with its constant n"

tap_exit 0 "--amplitudes" "$QCNN" bench $quick --circuit ghz --qubits 4,8,11,12 --amplitudes 2048 --csv
tap_is "$(sed 1d out | cut -d, -f2,7 | tr '\n' ' ')" "4,128 8,8 11,1 12,1 " "the samples that fill them, at least one"

# ---- what cannot be ----

refuse() {
	status=$1 text=$2
	shift 2
	tap_exit $status "bench $*" "$QCNN" bench $quick "$@"
	tap_has err "$text" "it says why"
}
refuse 2 '--qubits takes numbers like 20,24 or 20-28 or 20-28+2, not `4-`' --qubits 4-
refuse 2 'not `8-4`' --qubits 8-4
refuse 2 'not `4+2`' --qubits 4+2
refuse 2 'not `4-8+0`' --qubits 4-8+0
refuse 2 '--qubits takes numbers from 1 to 4096, not `0`' --qubits 0
refuse 2 '--batch gives more than 256 numbers' --batch 1-257
refuse 2 'the circuit sel needs at least 2 qubits' --qubits 1
refuse 2 'the circuit ghz has no number of layers to set' --circuit ghz --layers 3
refuse 2 'ghz has no weights, so that it has no gradient' --circuit ghz --gradient
refuse 2 'defines its own initial state' --circuit shown.qcnn --start product
refuse 2 '--start takes zero|product, not `one`' --start one
refuse 2 '--amplitudes and --batch both say' --amplitudes 16 --batch 2
refuse 2 '--amplitudes takes' --amplitudes 0
refuse 2 '--json, --csv and --markdown exclude each other' --json --csv
refuse 66 'there is no file nothing.qcnn, and no circuit of that name, but qcnn, sel, qft, qv, ghz, brickwork, random' --circuit nothing.qcnn
refuse 66 'did you mean `ghz`?' --circuit ghx
refuse 2 '--const is for files' --circuit qcnn --const n=4
refuse 2 '--qubits and --const both set n of shown.qcnn' --circuit shown.qcnn --const n=4 --qubits 6
refuse 2 'which is missing' --qubits 4 --plot-of amplitude
refuse 78 'sel: needs 8.0 TiB for 1 state of 40 qubits in single precision' --qubits 40
refuse 78 'sel: needs 32.0 TiB for 2 states of 40 qubits in double precision' --qubits 40 --gradient --precision double
refuse 78 'needs 2^' --qubits 300
twos=$(yes 2 | head -n 256 | paste -s -d , -)
refuse 2 'more than 256 circuits' --qubits "$twos" --layers 1,1
refuse 2 'more than 256 circuits' --circuit ghz --circuit shown.qcnn --qubits "$twos"

# ---- comparing ----

sed -E 's/"min": [0-9.e-]+, "median": [0-9.e-]+/"min": 1e-9, "median": 1e-9/' old.json >fast.json
sed -E 's/"min": [0-9.e-]+, "median": [0-9.e-]+/"min": 1000, "median": 1000/' old.json >slow.json
same="--circuit qcnn --qubits 8 --gradient --batch 16"
tap_exit 1 "slower than before" "$QCNN" bench $quick $same --compare fast.json
busy='(, but not reliable, as the machine (is busy|was busy then))?'
tap_ok "the case is named" grep -q -E "^slower$busy: qcnn gradient on 8 qubits, batch 16, 1 thread:" out
tap_exit 0 "faster than before" "$QCNN" bench $quick $same --compare slow.json
tap_ok "it is said" grep -q -E "^faster$busy: qcnn" out
tap_exit 1 "with --json" "$QCNN" bench $quick $same --compare fast.json --json
tap_ok "the verdict is beside the results" grep -q -E "^slower$busy: qcnn" err
sed -E 's/"min": [0-9.e-]+, "median": [0-9.e-]+/"min": 1, "median": 4/' old.json >noisy.json
tap_exit 0 "noise of both" "$QCNN" bench $quick $same --compare noisy.json --json
noise=$(sed -n 's/^.*, noise \([0-9.]*\) %).*/\1/p' err)
tap_is "$(sed -n 's/.*"seconds": {"min": \([0-9.e-]*\), "median": \([0-9.e-]*\),.*/\1 \2/p' out |
	awk -v noise="$noise" '{ d = 5 + 75 + 100 * ($2 - $1) / $2 - noise; print (d < 0.06 && d > -0.06) }')" 1 "is 5 % and the medians' distance from the minima"
tap_exit 65 "other cases" "$QCNN" bench $quick --qubits 4 --compare old.json
tap_has err "measured sel on 4 qubits, 1 layer, batch 1, 1 thread, 8 gates, seed 7, single, " "it is said"
tap_has err "; the file has qcnn gradient on 8 qubits, batch 16, 1 thread, 45 gates, seed 7, single, " "with what differs"
sed 's/"processor": "[^"]*"/"processor": "another"/' slow.json >there.json
tap_exit 0 "more cases than the file has" "$QCNN" bench $quick --circuit qcnn --qubits 8,9 --gradient --batch 16 --compare there.json
tap_is "$(sed -n 's/^new: \([^,]*\), .*: not in there.json$/\1/p' out)" "qcnn gradient on 9 qubits" "are named"
tap_has out "there.json was measured on another processor: another, this is " "so is another processor"
"$QCNN" bench --circuit ghz --qubits 4 --show >ghz.qcnn
"$QCNN" compile --emit=bytecode -o ghz.qbc ghz.qcnn
"$QCNN" compile ghz.qcnn >ghz.asm
for f in ghz.qbc ghz.asm; do
	tap_exit 78 "$f has no constants" "$QCNN" bench $quick --circuit $f --qubits 5
	tap_has err "$f is compiled already: its constants, such as n, are what they were then" "it is said"
done
cp ghz.qcnn 'a "b".qcnn'
tap_exit 0 "a name with quotes" "$QCNN" bench $quick --circuit 'a "b".qcnn' --csv
tap_is "$(sed 1d out | cut -d, -f1)" '"a ""b"".qcnn"' "is quoted as CSV is"
tap_exit 0 "a long path" "$QCNN" bench $quick --circuit ././././././././././././././././././././ghz.qcnn
tap_is "$(sed -n 's,^\.\.\.[./]*\(ghz.qcnn\)  .*,\1,p' out)" ghz.qcnn "shows its end"
echo 'QCNN 1; qubit q; input float[1000000] x; rx(x[0]) q; observe z(q);' >wide.qcnn
tap_exit 78 "more samples than memory holds" "$QCNN" bench $quick --circuit wide.qcnn --batch 16777216
tap_has err "wide.qcnn: needs 122.1 TiB for the inputs and readouts of 16777216 samples, " "are refused beforehand"
"$QCNN" bench -v --no-limits --threads 1 --runs 90000 --qubits 4,22 >stopped 2>err &
tap_ok "each case is named as it begins, with -v" tap_until "grep -q 'measuring sel on qubits: 22' err"
kill -INT $!
wait $!
tap_is $? 75 "a stop"
tap_is "$(grep -c '^sel  *4 ' stopped) $(grep -c 'stopped by INT' err)" "1 1" "prints the cases that were measured"
tap_has err "1 of 2 cases were measured" "and how many"
tap_exit 2 "a word that stands alone" "$QCNN" bench $quick --qubits 4 --optimizations=light_cone,none
tap_has err '`none` stands alone, without other words' "it is said"
# The null backend: what no machine holds is planned and stepped through, here and by workers; its results are 0.
tap_exit 0 "40 qubits without states" "$QCNN" bench --device null --circuit qcnn --qubits 40 --gradient --runs 3
tap_exit 0 "by workers" "$QCNN" bench --no-limits --device null --circuit qcnn --qubits 40 --gradient --runs 3 --hosts local:2
tap_exit 0 "its plan" "$QCNN" compile --emit=plan --device=null "$top_srcdir/examples/cluster/cluster.qcnn"
tap_has out "kernels    null, single precision" "names it"
echo 'QCNN 1; qubit q; x q; observe z(q);' >flip.qcnn
tap_exit 0 "a circuit" "$QCNN" run --device=null --format=json flip.qcnn
tap_has out '"outputs": [[0]]' "gives 0"
printf '2\n0 h 0\n1 cz 0 1\n' >two.qsim
tap_exit 65 "a file without n" "$QCNN" bench $quick --circuit two.qsim --qubits 4
tap_has err "a file that has none is measured without --qubits" "it is said"
echo '{}' >empty.json
tap_exit 65 "another start" "$QCNN" bench $quick $same --start product --compare old.json
tap_exit 65 "another file" "$QCNN" bench $quick --qubits 4 --compare empty.json
sed 's/"median": [0-9.e-]*/"median": "long"/' old.json >times.json
tap_exit 65 "no times" "$QCNN" bench $quick $same --compare times.json
tap_has err "times.json: it has no times of qcnn on 8 qubits" "it is said"
# What is read and written at the end is looked at first: 40 qubits would be refused after it.
tap_exit 65 "a file that is none, at once" "$QCNN" bench $quick --qubits 40 --compare empty.json
tap_exit 73 "no folder for the plot, at once" "$QCNN" bench $quick --qubits 40 --plot nowhere/times.svg
tap_has err "cannot create nowhere/times.svg" "it is said"
tap_exit 73 "a folder for the plot" "$QCNN" bench $quick --qubits 40 --plot .
tap_exit 66 "no file" "$QCNN" bench $quick --qubits 4 --compare nothing.json

# ---- the plot ----

tap_exit 0 "--plot" "$QCNN" bench $quick --circuit sel --circuit ghz --qubits 4-8 --plot times.svg
tap_is "$(grep -c '<circle' times.svg)$(grep -c '<rect x=.*6.6' times.svg)" 66 "five marks a circuit, and one in the legend"
tap_has times.svg '>qubits</text>' "the axis is named"
grep -o '>[0-9.]* [^<0-9 ]*s</text>' times.svg | sed 's/^>//; s/<.*//' >ticks
tap_ok "times with their units, upwards: $(tr '\n' ' ' <ticks)" awk '
	BEGIN { power["ns"] = 1e-9; power["\302\265s"] = 1e-6; power["ms"] = 1e-3; power["s"] = 1 }
	{ t = $1 * power[$2]; wrong += t <= before; before = t }
	END { exit wrong > 0 || NR < 1 }' ticks
tap_exit 0 "--plot-of amplitude" "$QCNN" bench $quick --qubits 4 --threads 1,2 --plot amplitude.svg --plot-of amplitude
tap_has amplitude.svg 'time per amplitude and operation (ns)' "the axis is named"
tap_is "$(grep -c 'states beyond a cache' amplitude.svg)" 0 "no caches along an axis of threads"
tap_exit 0 "batches by qubits" "$QCNN" bench $quick --isa baseline --circuit ghz --qubits 11-16 --amplitudes 8192 --plot growth.svg --plot-of amplitude
tap_is "$(grep -c '<circle' growth.svg)" 7 "are one series: six marks, and one in the legend"
tap_has growth.svg '>ghz</text>' "its name tells no batch"
tap_is "$(grep -c '&gt; L1</text>' growth.svg)" "$("$QCNN" info --json | grep -c '"level": 1')" "a line where a state is beyond L1"
tap_exit 0 "more than can be drawn" "$QCNN" bench $quick --circuit ghz --qubits 4,5 --batch 1-26 --plot many.svg
tap_has many.svg '>4 results not drawn</text>' "is said"
tap_is "$(sed -n 's/.* height="\([0-9]*\)" viewBox.*/\1/p' many.svg)" 592 "the legend has room"
if command -v xmllint >/dev/null; then
	tap_ok "they are well-formed" xmllint --noout times.svg amplitude.svg growth.svg many.svg
elif command -v python3 >/dev/null; then
	tap_ok "they are well-formed" python3 -c "
import sys, xml.dom.minidom
for f in sys.argv[1:]: xml.dom.minidom.parse(f)" times.svg amplitude.svg growth.svg many.svg
else
	tap_skip "neither xmllint nor python3 is installed"
fi

# ---- qsim's text format ----

# Every gate once, phases too; amplitudes by numpy from the matrices of qsim's gates_qsim.h.
cat >all.qsim <<'END'
# every gate
3
0 h 0
0 h 1
0 h 2
1 c 0 rx 1 0.5
1 id1 2
2 y_1_2 0
2 hz_1_2 1
2 t 2
3 fs 0 1 0.3 -0.4
4 rxy 0 0.3 0.7
4 x_1_2 1
5 is 0 1
6 p 0.3
7 c 1 p 0.5
8 cp 2 0 0.9
9 sw 1 2
10 id2 0 1
11 ry 0 -1.5
11 rz 1 2e-1
11 s 2
12 cnot 2 0
13 cx 0 1
14 cz 1 2
15 x 0
15 y 1
15 z 2
16 c 0 2 rxy 1 0.1 0.2
END
cat >all.want <<'END'
0.191432752296584 0.061473328018276
-0.046837272121756 -0.064375861326809
0.014652918169074 -0.196798070973655
0.046464811629966 0.051939608218597
-0.618038532835145 0.104213615641790
0.220924837206072 0.114028876412284
-0.293138352565966 -0.549746105903348
0.253094752819319 0.050846402305549
END
tap_exit 0 "a circuit of qsim" "$QCNN" run --device ref --emit state all.qsim
tr -d ' []{}' <out | sed 's/"im":/\n/; s/.*"re"://; s/,*$//' | tr '\n' ';' >flat
awk 'NR == FNR { n = split($0, part, ";"); split(part[1], re, ","); split(part[2], im, ","); next }
	{ i++; dr = $1 - re[i]; di = $2 - im[i]; if (dr * dr + di * di > 1e-24) print i, re[i], im[i], "not", $0 }
	END { if (i != 8) print i " amplitudes" }' flat all.want >wrong
tap_is "$(cat wrong)" "" "its amplitudes"
cat >bad.qsim <<'END'
2
0 h 0
0 hh 1
0 h 0
1 cz 0 0
2 m 0
3 rx 5 0.1
x h 0
4 rx 0 abc
5 h 0 1
6 c x 0
7 cz 0
+8 h 0
9 h 0000000000000000001
END
tap_exit 65 "faults in a circuit of qsim" "$QCNN" bench $quick --circuit bad.qsim --error-format=short
cat >bad.want <<'END'
bad.qsim:3:3: error[Q0081]: unknown gate `hh`
bad.qsim:4:5: error[Q0083]: a gate out of time order
bad.qsim:5:8: error[Q0082]: the same qubit twice
bad.qsim:6:3: error[Q0081]: a measurement
bad.qsim:7:6: error[Q0082]: there is no qubit 5
bad.qsim:8:1: error[Q0080]: a line begins with its time
bad.qsim:9:8: error[Q0080]: not a parameter
bad.qsim:10:7: error[Q0080]: something behind the gate
bad.qsim:11:5: error[Q0080]: no controls
bad.qsim:12:7: error[Q0080]: the line ends too early
bad.qsim:13:1: error[Q0080]: a line begins with its time
bad.qsim:14:5: error[Q0080]: not the number of a qubit
END
grep '^bad' err >bad.got
tap_same bad.got bad.want "each at its line and column"
tap_exit 65 "the same with its text" "$QCNN" check bad.qsim
tap_has err "3 | 0 hh 1" "shows the line of the file"
tap_has err "  |   ^^ no gate of this format has this name" "and a caret"
tap_exit 0 "bytecode of a circuit of qsim" "$QCNN" compile all.qsim
tap_is "$(sed -n 's/.* ; \(line 2[0-9]\)$/\1/p' out | sort -u | wc -l | tr -d ' ')" 10 "names the lines of the file"
tap_exit 65 "a constant" "$QCNN" compile --const n=3 all.qsim
tap_has err "has no constants such as \`n\`" "which this format has not"
awk 'BEGIN { print 4; for (k = 0; k < 100000; k++) printf "%d rx %d 0.%d\n", k, k % 4, k % 97 + 1 }' >long.qsim
tap_exit 0 "100,000 gates within seconds" timeout 20 "$QCNN" check --json long.qsim
tap_has out '"applies": 100000' "all are there"
# ---- workers ----
tap_exit 0 "with workers" "$QCNN" bench --circuit qcnn --qubits 4 --gradient --batch 40 --runs 3 --threads 1 --hosts local:2 --json
tap_has out '"threads": 1, "workers": 2' "as many as were asked for"
cp out workers.json
tap_exit 0 "a table" "$QCNN" bench --qubits 4,5 --batch 40 --runs 3 --threads 1 --hosts local:2
tap_is "$(grep -c '^sel .* 2 x 1 ' out)" 2 "workers times threads"
tap_exit 65 "one process is another case" "$QCNN" bench --circuit qcnn --qubits 4 --gradient --batch 40 --runs 3 --threads 1 --no-limits --compare workers.json
"$QCNN" bench --circuit qcnn --qubits 4 --gradient --batch 40 --runs 3 --threads 1 --hosts local:2 --compare workers.json >out 2>err
tap_has out "1 thread" "the same workers are compared" || cat out err
printf '#!/bin/sh\necho started >>launched\nshift\nexec sh -c "$*"\n' >launch
chmod +x launch
tap_exit 0 "three cases" "$QCNN" bench $quick --qubits 4-6 --hosts a,b --launcher exec:./launch
tap_is "$(wc -l <launched | tr -d ' ')" 2 "are measured with the same two workers"
tap_exit 69 "a host that does not work" "$QCNN" bench --qubits 4 --runs 1 --hosts 127.0.0.1 --launcher exec:false
tap_has err "127.0.0.1[0]: its launcher ended with exit status 1" "is named"
tap_done
