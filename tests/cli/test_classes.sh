# SPDX-License-Identifier: Apache-2.0
# What class infer prints, with which probability or score, under which name, for each kind of loss and head.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/arrays.sh"

cat >one.qcnn <<'END'
QCNN 1;
qubit q;
input float x;
param float w = 0;
ry(x + w) q;
observe z(q);
END
sed 's/observe.*/observe z(q); head { dense(1, sigmoid); }/' one.qcnn >sigmoid.qcnn
cat >three.qcnn <<'END'
QCNN 1;
qubit[2] q;
input float x;
param float w = 0;
ry(x + w) q;
observe z(q[0]), x(q[0]);
head { dense(3); }
END
sed 's/dense(3)/dense(3, softmax)/' three.qcnn >softmax.qcnn
printf 'x,label\n0.1,1\n0.2,-1\n1.2,-1\n2.2,-1\n3,1\n' >signs.csv
printf 'x,label\n0.1,1\n0.2,0\n1.2,0\n2.2,0\n3,1\n' >bits.csv
printf 'x,label\n0.1,2\n0.2,0\n1.2,1\n2.2,2\n3,0\n' >three.csv
printf 'x,kind\n0.1,ill\n0.2,"well, quite"\n1.2,well\n2.2,well\n3,ill\n' >words.csv
printf 'x,label\n0.1,0.5\n0.2,1.5\n1.2,0.25\n2.2,0.75\n3,0.1\n' >reals.csv
printf 'x\n0.3\n2.5\n' >new.csv
cat >base.yaml <<'END'
model: {file: one.qcnn}
data: {train: signs.csv}
train: {epochs: 1, batch_size: 5, loss: mse, optimizer: {sgd: {learning_rate: 0}}}
run: {precision: double}
END

# made NAME MODEL DATA KEYS...: o.csv, all samples of a training with these keys.
made() {
	name=$1 model=$2 data=$3
	shift 3
	for key; do set -- "$@" --set "$key"; shift; done
	"$QCNN" train -q --fresh --set model.file=$model.qcnn --set data.train=$data.csv -o w.bin "$@" base.yaml 2>err || sed 's/^/# /' err
	"$QCNN" infer --split train -o o.csv w.bin >out 2>err
	tap_result $? "$name: infer" || sed 's/^/# /' err
}
# holds NAME AWK: an AWK condition of all rows, with columns by their names in c[].
holds() {
	tap_ok "$1" awk -F, "NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next }
		function c(n) { return \$at[n] } function near(a, b) { return a - b < 1e-12 && b - a < 1e-12 }
		function sum() { return c(\"output[0]\") + c(\"output[1]\") + c(\"output[2]\") }
		function e(k) { return exp(c(\"output[\" k \"]\")) }
		function top(m, k) { m = 0; for (k = 1; k < 3; k++) if (c(\"output[\" k \"]\") > c(\"output[\" m \"]\")) m = k; return m }
		!($2) { print; bad = 1 } END { exit bad || NR != 6 }" o.csv
}
# counts METRIC: it is the share of rows of o.csv whose class is their label.
counts() {
	tap_is "$(sed -n "s/^$1	//p" out)" "$(awk -F, 'NR > 1 { n += $3 == $5 } END { print n / (NR - 1) }' o.csv)" "$1 counts these classes"
}
two='sample,output,class,score,label'

made 'labels -1 and 1, mse' one signs
tap_is "$(head -n 1 o.csv)" "$two" 'has the columns class and score'
holds 'the class is the sign' 'c("class") == (c("output") >= 0 ? 1 : -1) && c("score") == c("output")'
made hinge one signs train.loss=hinge
holds 'hinge: the sign' 'c("class") == (c("output") >= 0 ? 1 : -1) && c("score") == c("output")'
made 'labels 0 and 1, mse' one bits
holds 'above 0.5 is 1' 'c("class") == (c("output") > 0.5) && c("score") == c("output")'
printf 'x,label\n0.1,1\n1.2,1\n' >ones.csv
"$QCNN" infer --data ones.csv --set train.metrics=[accuracy] -o o.csv w.bin >out 2>err
counts accuracy
tap_ok 'a part with one of the labels goes by those of the training' grep -q '^accuracy	0.5$' out
made 'threshold' one bits 'train.metrics=[{binary_accuracy: {threshold: 0.9}}]'
holds 'the threshold of binary_accuracy' 'c("class") == (c("output") > 0.9)'
made 'binary_crossentropy' sigmoid bits train.loss=binary_crossentropy 'train.metrics=[accuracy]'
holds 'the probability is that of the class' \
	'c("class") == (c("output") > 0.5) && near(c("probability"), c("class") ? c("output") : 1 - c("output"))'
counts accuracy
made 'logits' one bits 'train.loss={binary_crossentropy: {from_logits: true}}' 'train.metrics=[accuracy, binary_accuracy]'
tap_ok 'some lie between 0 and 0.5' awk -F, '$2 > 0 && $2 < 0.5 { found = 1 } END { exit !found }' o.csv
counts accuracy
counts binary_accuracy
holds 'the probability is the sigmoid' \
	'c("class") == (c("output") > 0) && near(c("probability"), 1 / (1 + exp(c("class") ? -c("output") : c("output"))))'
made 'threshold of a logit' one bits 'train.loss={binary_crossentropy: {from_logits: true}}' 'train.metrics=[{binary_accuracy: {threshold: 0.5}}]'
holds 'is that of binary_accuracy' 'c("class") == (c("output") > 0.5)'
counts binary_accuracy
made 'hinge with labels 0 and 1' one bits train.loss=hinge 'train.metrics=[accuracy]'
holds 'above 0 is 1' 'c("class") == (c("output") > 0) && c("score") == c("output")'
counts accuracy
made 'sigmoid and mse' sigmoid bits
holds 'a probability, too' 'near(c("probability"), c("class") ? c("output") : 1 - c("output"))'
made 'softmax' softmax three train.loss=categorical_crossentropy
holds 'the largest of several outputs' 'c("class") == top() && near(c("probability"), c("output[" top() "]") / sum())'
made 'softmax and logits' three three 'train.loss={categorical_crossentropy: {from_logits: true}}'
holds 'their softmax' 'c("class") == top() && near(c("probability"), e(top()) / (e(0) + e(1) + e(2)))'
{ npy '|u1' '(5, 1)'; bytes 0 0 1 2 3; } >x.npy
{ npy '|u1' '(5, 3)'; bytes 0 0 1 1 0 0 0 1 0 0 0 1 1 0 0; } >y.npy
npz hot.npz x y
made 'binary_crossentropy of several outputs' softmax hot data.train=hot.npz train.loss=binary_crossentropy 'train.metrics=[accuracy]'
holds 'the probability of the largest' 'c("class") == top() && near(c("probability"), c("output[" top() "]"))'
made 'and of logits' three hot data.train=hot.npz 'train.loss={binary_crossentropy: {from_logits: true}}' 'train.metrics=[accuracy]'
"$QCNN" infer --split train --json w.bin >o.json 2>err
tap_has o.json '"label_classes": ["2", "0", "1", "2", "0"]' 'the class of a list is the largest, too'
holds 'its sigmoid' 'c("class") == top() && near(c("probability"), 1 / (1 + 1 / e(top())))'
made 'outputs that are no probabilities' one bits train.loss=binary_crossentropy
holds 'have scores' 'c("class") == (c("output") > 0.5) && c("score") == c("output")'
made 'a loss without labels' one bits train.loss=output
tap_is "$(head -n 1 o.csv)" 'sample,output,label' 'has no class'
made 'regression' one reals
tap_is "$(head -n 1 o.csv)" 'sample,output,label' 'has no class'
tap_is "$("$QCNN" infer --json --split train w.bin | grep -c '"label_classes": null, "classes": null, "probabilities": null, "scores": null')" 1 'nor in JSON'
# Of a run or its weights, run takes the precision of the training, and what data.transform learnt.
made 'scaled inputs' one signs 'data.transform=[{min_max: {low: 0, high: 1}}]'
"$QCNN" infer --data new.csv -o o.csv w.bin >out 2>err
"$QCNN" run --data=new.csv --format=csv w.bin 2>err | sed '1d; s/.*,//' >got
tap_has err 'the inputs are transformed as in the training: min_max' 'run names the steps'
sed '1d; s/.*,//' o.csv >want
tap_same got want 'run has the digits of infer'
"$QCNN" run --data=new.csv --format=csv --precision=single w.bin | sed '1d; s/.*,//' >got
tap_ok 'but for another precision' sh -c '! cmp -s got want'

# Arrays, of which inputs are what the circuit gets.
tap_exit 0 'npz' "$QCNN" infer --split=train -o o.npz w.bin
"$QCNN" infer --split=train -o o.csv w.bin >out 2>err
sed 's/\bx\b/inputs/' one.qcnn >inputs.qcnn
"$QCNN" run --precision=double --format=csv --weights=w.bin --data=o.npz inputs.qcnn 2>err | sed '1d; s/.*,//' >got
sed 1d o.csv | cut -d, -f2 >want
tap_same got want 'its inputs are transformed'
tap_exit 0 'and it is read with its labels' "$QCNN" infer --data=o.npz --set data.label=labels \
	--set 'data.inputs={x: outputs}' w.bin
tap_is "$(awk 'NR > 1 && NF > 3 { printf "%d ", $NF }' out)" "$(awk -F, 'NR > 1 { printf "%d ", $NF }' o.csv)" 'which are those of the training'

# Words of data.label_map.
made 'words' sigmoid words data.label=kind 'data.label_map={ill: 1, well: 0, "well, quite": 0}' train.loss=binary_crossentropy
tap_is "$(sed -n '2,3s/.*0\.[0-9]*,//p' o.csv | tr '\n' ' ')" 'ill "well|well, quite" ' 'labels have them, with quotes where needed'
tap_ok 'classes, too' sh -c "awk -F, 'NR > 1 { print \$3 }' o.csv | grep -q -e ill -e well"
"$QCNN" infer --split train -o o.jsonl w.bin >/dev/null 2>err
tap_is "$(sed -n '2s/.*\("labels".*\), "class".*/\1/p' o.jsonl)" '"labels": [0], "label_class": "well|well, quite"' \
	'JSON lines have the number of the label and the name of its class'
"$QCNN" infer --split train --json w.bin >o.json 2>err
tap_is "$(sed -n 's/.*\("label_classes": [^]]*\).*/\1/p' o.json)" \
	'"label_classes": ["ill", "well|well, quite", "well|well, quite", "well|well, quite", "ill"' '--json, too'
"$QCNN" infer --split train --set train.metrics=confusion w.bin >out 2>err
tap_is "$(grep -A 2 '^confusion' out | cut -f 1 | tr '\n' /)$(sed -n 's/^confusion//p' out)" \
	'confusion/well|well, quite/ill/	well|well, quite	ill' 'a confusion matrix has them beside its rows and above its columns'
script -qec "'$QCNN' infer --split train --set train.metrics=confusion w.bin" /dev/null </dev/null 2>&1 | tr -d '\r' >out
tap_is "$(grep -A 2 '^confusion' out | sed 's/[0-9]/N/g')" 'confusion         well|well, quite  ill
well|well, quite  N                 N
ill               N                 N' 'on a terminal the columns are aligned'
"$QCNN" infer --data new.csv --json w.bin >o.json 2>err
tap_has o.json '"label_classes": null' 'null without labels'
"$QCNN" infer --data new.csv -o o.jsonl w.bin >/dev/null 2>err
tap_is "$(sed 's/: 0\.[0-9]*/: P/; s/\[0\.[0-9]*/[P/' o.jsonl | sed 's/"class": "[^"]*"/"class": C/' | sort -u | head -n 1)" \
	'{"sample": 0, "outputs": [P], "class": C, "probability": P}' 'new data without labels have classes'
tap_exit 0 'text' "$QCNN" infer --data new.csv w.bin
tap_is "$(head -n 1 out | tr '\t' ,)" 'sample,output,class,probability' 'has the columns'
tap_ok 'and 6 digits' awk 'NR > 1 && (length($2) > 9 || length($NF) > 9) { exit 1 }' out
tap_exit 0 'npy' "$QCNN" infer --data new.csv -o o.npy w.bin
tap_is "$(wc -c <o.npy)" 144 'has the outputs alone'

# Labels of the training are in the weights.
"$QCNN" train -q --fresh -o w.bin base.yaml
tap_exit 0 'weights show' "$QCNN" weights show w.bin
tap_has out '# labels: [-1,1]' 'lists the labels'
tap_exit 0 'new data' "$QCNN" infer --data new.csv w.bin
tap_has out 'class	score' 'have classes without label_map, metrics or labels'

# Converted weights have no labels of a training: the samples have them.
"$QCNN" weights convert w.bin w.npz
"$QCNN" weights convert --model=base.yaml w.npz other.bin
for data in signs bits; do
	tap_exit 0 "converted weights, labels of $data" "$QCNN" infer --data $data.csv other.bin
	tap_is "$(head -n 1 out)" "$(printf 'sample\toutput\tclass\tscore\tlabel')" 'classes'
done
tap_exit 0 'converted weights' "$QCNN" infer --data signs.csv other.bin
"$QCNN" infer --data signs.csv w.bin >want
tap_same out want 'the classes of the training'
sed 's/,-1/,1/' signs.csv >same.csv
for data in new same reals; do
	tap_exit 0 "converted weights, $data" "$QCNN" infer --data $data.csv other.bin
	tap_is "$(head -n 1 out | cut -f 1-3 | grep -c class)" 0 'no classes'
done
tap_done
