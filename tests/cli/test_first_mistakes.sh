# SPDX-License-Identifier: Apache-2.0
# What people get wrong on their first day, and the words that must help them on.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files

mkdir folder
tap_exit 66 "a folder for a configuration" "$QCNN" train folder/
tap_has err 'folder/ is a folder; name the configuration in it, for example folder/config.yaml' "says what to name"
tap_exit 78 "a model for a configuration" "$QCNN" train bell.qcnn
tap_has err 'bell.qcnn is a model; a configuration, a YAML file, names it: `model: {file: bell.qcnn}`' "says what is missing"

printf 'qubit q; input float[2] x; param float t; rx(x[0]*t) q; ry(x[1]) q;\n' >blind.qcnn
tap_exit 65 "nothing observed" "$QCNN" train --set model.file=blind.qcnn table.yaml
tap_has err 'blind.qcnn has no outputs to compare with labels' "says so"
printf 'qubit q; input float[2] x; rx(x[0]) q; ry(x[1]) q; observe z(q);\n' >fixed.qcnn
tap_exit 65 "nothing to train" "$QCNN" train --set model.file=fixed.qcnn table.yaml
tap_has err 'fixed.qcnn has no weights to train' "says so"
tap_exit 0 "one gate is one apply" "$QCNN" check fixed.qcnn
tap_ok "in the singular, too" sh -c 'printf "qubit q; x q; observe z(q);" >one.qcnn && "$0" check one.qcnn | grep -q "1 qubit, 1 operation, 1 readout"' "$QCNN"

printf 'qubit[30] q; h q; observe z(q);\n' >large.qcnn
tap_exit 0 "a model larger than many machines" "$QCNN" check large.qcnn
tap_has out 'state     8.0 GiB in single precision, 16.0 GiB in double; a gradient takes two' "says what it takes"

echo 'qubit[44] q; param float t; ctrl(32) @ rx(t) on windows(q, 33, 1); ctrl(40) @ ry(t) on windows(q, 41, 1); observe z(q[43]);' >controls.qcnn
tap_exit 0 "gates under 32 and 40 controls are planned" "$QCNN" check controls.qcnn

# A fault in every row is not told for every row.
{ echo a,b,label; for i in 1 2 3 4 5 6 7 8 9; do echo "0.$i,cat,0"; done; } >words.csv
tap_exit 65 "inputs that are words" "$QCNN" train --set data.train=words.csv table.yaml
tap_is "$(grep -c 'error\[Q0601\]' err)" 5 "five are enough"
tap_has err 'after 5 faults the rest of the file is not read' "and it says that"

sed 's/label$/kind/' samples.csv >kinds.csv
tap_exit 65 "the label's column has another name" "$QCNN" train --set data.train=kinds.csv --set data.label=null table.yaml
tap_has err '`data.label` says which column holds the labels' "names the key"
tap_exit 65 "so it has for run" "$QCNN" run --data=kinds.csv two.qcnn
tap_has err '`label` is the name by which it would be known' "names the column"

sed 's/{file: cluster.qcnn}/{file: cluster.qcnn, const: {m: 3}}/' config.yaml >const.yaml
for command in check draw train; do
	tap_exit 78 "$command: a constant that is not there" "$QCNN" $command const.yaml
done
tap_has err ' --> const.yaml:1:37' "is shown in the configuration"
tap_exit 65 "a model alone" "$QCNN" check --const m=3 cluster.qcnn
echo 'const float f = 1e-310; qubit q; observe f*z(q);' >tiny.qcnn
for f in 1e-310 1e-400 -4.9e-324 1e308; do tap_exit 0 "--const f=$f, as in a text" "$QCNN" check --const f=$f tiny.qcnn; done
for f in 1e309 -1e309 nan inf 1x ''; do tap_exit 65 "--const f=$f" "$QCNN" check --const "f=${f:- }" tiny.qcnn; done
echo 'const int n = 1; qubit[n] q; observe z(q);' >sized.qcnn
tap_exit 65 "an int beyond 64 bits" "$QCNN" check --const n=9223372036854775808 sized.qcnn
sed 's/observe.*/observe zz(w);/' cluster.qcnn >both.qcnn
tap_exit 65 "a faulty model, and a constant" "$QCNN" check --set model.file=both.qcnn const.yaml

tap_exit 0 "a run of three starts" "$QCNN" train -q --set train.restarts=3 config.yaml
tap_is "$(sed 's/.*"start": \([0-9]*\).*/\1/' runs/latest/metrics.jsonl | sort -u | tr '\n' ' ')" "1 2 3 " "starts are counted from 1, as epochs"
tap_exit 0 "the same run, told" "$QCNN" train --set train.restarts=3 config.yaml
best=$(sed -n 's/.*best of 3 restarts: restart \([0-9]*\).*/\1/p' err)
tap_ok "the best start has one number everywhere" grep -Eq "\"start\": ?$best," runs/latest/run.json

# What an unknown option was meant to be; what is suggested is taken.
meant() {   # COMMAND OPTION SENTENCE
	"$QCNN" $1 $2 config.yaml >out 2>err
	tap_is "$?" 2 "qcnn $1 $2"
	tap_is "$(sed -n 's/.*error: unknown option //p' err)" "$3" "says what was meant"
	set=$(sed -n 's/.*`--set \([^`]*[^.]\)`.*/\1/p' err)
	[ -z "$set" ] || tap_exit 0 "--set $set is taken" "$QCNN" config --set "$set" config.yaml
}
meant train --batch-size=3 '`--batch-size`: it is a key, `--set train.batch_size=3`'
meant train --epoch=3 '`--epoch`: did you mean `--set train.epochs=3`?'
meant train --thread=2 '`--thread`: did you mean `--set run.threads=2`?'
meant train '--lr 0.1' '`--lr`: here it is called `--set train.optimizer.adam.learning_rate=0.1`'
meant train '-lr 0.1' '`-lr`: here it is called `--set train.optimizer.adam.learning_rate=0.1`'
meant train '--momentum=0.9' '`--momentum`: it is a key, `--set train.optimizer.sgd.momentum=0.9`'
meant train '--patience 3' '`--patience`: it is a key, `--set train.callbacks.early_stopping.patience=3`'
meant train --train.epochs=3 '`--train.epochs`: it is a key, `--set train.epochs=3`'
meant train --split=2 '`--split`: it is a key, `--set data.split=2`, or `--set run.split=2`'
meant train --n-epochs '`--n-epochs`: here it is called `--set train.epochs=...`'
meant train --emit=plan '`--emit`: it is an option of `qcnn run`, `qcnn compile`'
meant train --batch=3 '`--batch`: did you mean `--set train.batch_size=3`? It is an option of `qcnn compile`, `qcnn bench`, `qcnn profile`'
meant infer --thread=2 '`--thread`: did you mean `--threads`?'
meant infer --rounds=4 '`--rounds`: it is a key, `--set data.rounds=4`'
meant infer --metrics '`--metrics`: it is a key, `--set train.metrics=...`'
meant infer --epochs=4 '`--epochs`'
meant train --xyzzy=4 '`--xyzzy`'
sed 's/epochs:/n_epochs:/; s/learning_rate:/lr:/' config.yaml >torch.yaml
tap_exit 78 "the words of others in a configuration" "$QCNN" config torch.yaml
tap_has err 'here it is called `train.epochs`' "a key is named"
tap_has err 'here it is called `learning_rate`' "an option is named"

# helps WORDS TEXT STATUS OPTIONS...: a training with these options fails and says WORDS.
helps() {
	words=$1 text=$2 status=$3
	shift 3
	tap_exit $status "$text" "$QCNN" train "$@" config.yaml
	tap_has err "$words" "says what to write"
}
helps 'it is an option of `adam`: `train.optimizer: {adam: {learning_rate: ...}}`' "an option without its path" 78 --set lr=0.1
helps '`train.epochs` has no value; write train.epochs=VALUE' "a space for an equals sign" 2 --set train.epochs 5
helps 'it is a value of `train.callbacks`: `train.callbacks: {early_stopping: {...}}`' "a callback as a key" 78 --set train.early_stopping=5
helps 'write them without val_' "a metric of the validation" 78 --set 'train.metrics=[val_accuracy]'
helps 'write `data: {train: two.csv}`' "a file of data for their section" 78 --set data=two.csv
helps 'for example `data.label_map: {0: -1, 1: 1}`' "a list of classes for a map" 78 --set 'data.label_map=[a, b]'
helps 'exec:PROGRAM' "a program for a launcher" 2 --hosts=n1 --launcher=./launch.sh
printf 'a,b,c,d,label\n.1,.2,.3,.4,cat\n.3,.4,.1,.2,Cat\n' >cats.csv
printf 'a,b,c,d,e,f,label\n.1,.2,.3,.4,.5,.6,1\n.3,.4,.1,.2,.6,.5,-1\n' >wide.csv
helps 'an input of 6 would take them' "columns for a larger model" 65 --set data.generate=null --set data.train=wide.csv
helps 'did you mean `cat`?' "a label in capitals" 65 --set data.generate=null --set data.train=cats.csv --set 'data.label_map={cat: 1}'

printf '0.1,0.2,0.3,0.4\n' >angles.csv
tap_exit 0 "samples without labels" "$QCNN" infer --data angles.csv runs/latest/weights.bin
tap_has err 'no labels in angles.csv: no loss or metrics; --set data.label=NAME names their column, which was `label` in the training' "why there is no loss"
tap_exit 0 "a column of labels that is not there" "$QCNN" infer --data angles.csv --set data.label=kind runs/latest/weights.bin
tap_has err 'no labels in angles.csv, which has nothing named `kind`: no loss or metrics' "is named"
tap_exit 0 "one metric that is no list" "$QCNN" train -q --set train.metrics=accuracy table.yaml
tap_exit 0 "it stands for a list of one" "$QCNN" config --set train.metrics=accuracy --set data.transform=standardize --set 'train.regularizers={l2: 0.1}' \
	--set train.constraints=non_neg --set train.callbacks=csv table.yaml
tap_ok "in the resolved configuration, too" grep -q 'metrics:.*\[accuracy\]' out
tap_exit 78 "a wrong name alone" "$QCNN" train --set train.metrics=accurate table.yaml
tap_has err 'did you mean `accuracy`?' "is found"
(mkdir none && cd none && "$QCNN" run latest >out 2>../err)
tap_has err 'and no run of this name in runs; `qcnn runs` lists the runs' "the latest run where there is none"
echo >w.npz
tap_exit 65 "weights for a model" "$QCNN" check w.npz
tap_has err 'w.npz has numbers, not a model; name the model, and for run and compile also --weights=w.npz' "says what to name"
tap_exit 66 "and none that is not there" "$QCNN" check none.npz
tap_exit 65 "run of a configuration" "$QCNN" run table.yaml
tap_has err 'table.yaml is a configuration, not a model; try `qcnn train table.yaml`' "says what it is"
tap_exit 2 "nothing to do" "$QCNN"
tap_has err 'missing command: one of train, infer, run' "lists the commands"
tap_exit 78 "a device that is not there" "$QCNN" train --set run.device=gpu table.yaml
tap_has err 'here it is called `cuda`' "has another name"
printf 'qubit q; param float w; ry(w) q; observe z(q);\n' >deaf.qcnn
tap_exit 0 "a model without inputs" "$QCNN" train --set model.file=deaf.qcnn table.yaml
tap_has err 'deaf.qcnn has no `input`: its outputs are the same for every sample' "is told"
printf 'qubit[2] q; input float[2] x; param float[2] w; rx(each x) on q; ry(each w) on q; observe z(q);\n' >pair.qcnn
tap_exit 65 "two outputs and one label" "$QCNN" train --set model.file=pair.qcnn table.yaml
tap_has err 'has 1 label a row, the model has 2 outputs' "are counted"
tap_has err 'where the label is the number of a class, loss categorical_crossentropy' "and a way is shown"
{ echo a,b,label; for i in 1 2 3 4; do echo "0.$i,0.2,cat"; echo "0.$i,0.3,big dog"; done; } >pets.csv
tap_exit 0 "classes by their names" "$QCNN" train -q --set data.train=pets.csv --set 'data.label_map={cat: -1, big dog: 1}' table.yaml
tap_exit 65 "a class that has no number" "$QCNN" train -q --set data.train=pets.csv --set 'data.label_map={cat: -1}' table.yaml
tap_has err "\`data.label_map\` has no number for: 'big dog'" "is named"
tap_is "$(grep -c 'error\[' err)" 1 "once"
tap_exit 65 "no class that has one" "$QCNN" train -q --set data.train=pets.csv --set data.label_map=null table.yaml
map=$(sed -n 's/.*`label_map: \(.*\)`$/\1/p' err)
tap_is "$map" "{'big dog': -1, cat: 1}" "shows how to give them one"
tap_exit 0 "which works" "$QCNN" train -q --set data.train=pets.csv --set "data.label_map=$map" table.yaml
for gate in pow_h pow_iswap pow_swap pow_zz phase_all; do
	printf "qubit[2] q; $gate(0.1) q[0], q[1];\n" >step.qcnn
	tap_exit 65 "$gate is no gate of the language" "$QCNN" check step.qcnn
	tap_has err "unknown gate \`$gate\`" "and is named"
done
tap_has err 'a global phase is written `gphase(a);`' "with what is meant"

# Files of data: what is wrong, and what to do about it.
printf 'model: {file: two.qcnn}\ndata: {train: d.csv}\ntrain: {epochs: 1}\n' >d.yaml
# data TEXT NAME HINT: a training with this CSV ends with 65, and the message has the hint.
data() {
	printf "$1" >d.csv
	tap_exit 65 "$2" "$QCNN" train -q d.yaml
	tap_has err "$3" "says what to do"
}
data 'id,a,b,label\n1,0.1,0.2,1\n2,0.3,0.4,-1\n' "a column of row numbers" 'to leave it out: `data.inputs: {x: [a, b]}`'
data 'a,b,label,\n0.1,0.2,1,\n' "commas at the ends of rows" "the rows end in a separator, so that the last column has no name: remove it, for example with sed 's/,\$//'"
data 'a b label\n0.1 0.2 1\n' "spaces between fields" "the first row is 3 words with spaces between, but commas, semicolons or tabs separate fields"
data 'a,b,label\n0.1,,1\n' "an empty cell" 'missing values have to be filled before'
data 'a,b,label\n0.1,NaN,1\n' "NaN" 'missing values have to be filled before'
data 'a,b,label\n0.1,0.2,nan\n' "a label NaN" 'a sample without a label cannot be used for training: remove its row'
tap_ok "no label_map is proposed" sh -c '! grep label_map err'
data 'a,b,label\nred,0.2,1\n' "a category" 'write each category as a column of 0 and 1'
data 'a,b\n1,\0002\n' "bytes that are no text" 'this is not CSV text: byte 7 is 0'
data 'PK\003\004abcd' "a spreadsheet" 'this is not CSV text but a ZIP archive'
data '\037\213abcd' "a compressed file" 'unpack it with gunzip'
printf 'a,a,label\n0.1,0.2,1\n0.3,0.4,-1\n' >d.csv
tap_exit 0 "two columns of one name" "$QCNN" train --fresh d.yaml
tap_has err 'warning[Q0611]: two columns are named `a`' "have a warning"
tap_exit 65 "with --strict" "$QCNN" train --fresh --strict d.yaml
tap_has err '1 warning is treated as error (--strict)' "it is an error"
printf 'id,a,label\n1,0.2,1\n2,0.4,-1\n' >d.csv
tap_exit 0 "row numbers in the place of an input" "$QCNN" train --dry-run d.yaml
tap_has err 'warning[Q0618]: column `id` is an input' "have a warning"
tap_has err 'to leave it out: `data.inputs: {x: [a]}`' "that says how to leave them out"
tap_exit 0 "where they are named as an input" "$QCNN" train -q --strict --fresh --set data.inputs.x=[id,a] d.yaml

# Names of other programs, and forms of values.
# hinted SET HINT: a configuration with this change is refused with this hint.
hinted() {
	tap_exit 78 "--set $1" "$QCNN" config --set "$1" table.yaml
	tap_has err "$2" "has a hint"
}
hinted 'train.metrics=[acc]' 'here it is called `accuracy`'
hinted 'train.optimizer={name: adam, learning_rate: 0.1}' '`{adam: {learning_rate: 0.1}}`'
hinted 'train.optimizer={adam: , learning_rate: 0.1}' '`{adam: {learning_rate: 0.1}}`'
hinted 'train.optimizer={type: adam}' 'write `adam`, or with options `{adam: {learning_rate: ...}}`'
hinted 'train.optimizer={adam: 0.1}' 'write `adam`, or with options `{adam: {learning_rate: ...}}`'
hinted 'train.optimizer=[adam]' 'write `adam`, or with options `{adam: {learning_rate: ...}}`'
hinted 'train.metrics=[{type: auc}]' 'write `auc`'
hinted 'train.optimizer.learning_rate=0.1' 'it is an option, for example: `train.optimizer.adam.learning_rate`'
hinted 'train.callbacks.patience=3' 'it is an option, for example: `train.callbacks.early_stopping.patience`'
hinted 'train.lr=0.1' 'it is an option of `adam`: `train.optimizer: {adam: {learning_rate: ...}}`'
hinted 'data.split=80%' 'write the fraction: 0.8'
hinted 'data.split=[0.7, 0.3]' '`{train: 0.7, validation: 0.15, test: 0.15}`'
hinted 'train.learning_rate=0.1' 'it is an option of `adam`: `train.optimizer: {adam: {learning_rate: ...}}`'
hinted 'train.momentum=0.9' '`train.optimizer: {sgd: {momentum: ...}}`'
hinted 'train.validation_split=0.2' 'write `data.split: 0.8`'
hinted 'data.validation_split=0.25' 'write `data.split: 0.75`'
hinted 'train.split=0.2' 'here it is called `data.split`'
hinted 'train.epochs=1e3' 'a whole number has no point and no exponent: 1000'
hinted 'data.label_map={1:1}' 'a colon that separates a key from its value needs a space after it: `1: 1`'
tap_exit 78 "an input that does not exist" "$QCNN" train --set 'data.inputs={y: [a, b]}' table.yaml
tap_has err 'its inputs are: `x`' "the inputs are listed"
tap_exit 65 "a constant that does not exist" "$QCNN" draw --const m=8 cluster.qcnn
tap_has err 'its constants are: `n`' "the constants are listed"

# Files that do not exist, and files of another kind.
sed 's/two.qcnn/tow.qcnn/' table.yaml >moved.yaml
tap_exit 66 "no model" "$QCNN" train moved.yaml
tap_has err 'moved.yaml:1:15: model.file: cannot read tow.qcnn: No such file or directory; did you mean two.qcnn?' "with its place and a name"
tap_exit 66 "no model, for draw" "$QCNN" draw moved.yaml
tap_has err 'moved.yaml:1:15: model.file' "with its place"
sed 's/samples.csv/sample.csv/' table.yaml >moved.yaml
tap_exit 66 "no data" "$QCNN" train moved.yaml
tap_has err 'moved.yaml:3:10: data.train: cannot read sample.csv: No such file or directory; did you mean samples.csv?' "with its place and a name"
tap_exit 66 "a ~" "$QCNN" infer --data '~/x.csv' runs/latest
tap_has err 'only shells expand `~`' "says why"
tap_exit 66 "a URL" "$QCNN" draw https://example.com/m.qcnn
tap_has err 'download it first: curl -O https://example.com/m.qcnn' "says what to do"
tap_exit 78 "a split that leaves nothing" "$QCNN" train --set data.split=0.001 table.yaml
tap_has err 'data.split: samples.csv: the split leaves no row to train with' "with key and file"
tap_exit 65 "infer of a model" "$QCNN" infer two.qcnn
tap_has err 'not a weights file, but a text; models are read by `qcnn run`' "says what it is"

# Data that can be trained with, but hardly are meant so.
cat >plain.qcnn <<'END'
QCNN 1;
qubit[2] q;
input float[2] x;
param float w = 0.1;
rx(each x) on q;
ry(w) q[0];
cx q[0], q[1];
observe z(q[1]);
END
printf 'model: {file: plain.qcnn}\ndata: {train: d.csv}\ntrain: {epochs: 1, metrics: [accuracy]}\n' >d.yaml
# doubted CODE WORDS TEXT OPTIONS...: a training with this CSV has this warning, which is an error with --strict.
doubted() {
	code=$1 words=$2
	printf "$3" >d.csv
	shift 3
	tap_exit 0 "$words" "$QCNN" train --dry-run "$@" d.yaml
	tap_has err "warning[$code]" "a warning"
	tap_has err "$words" "says why"
	tap_exit 65 "$words: --strict" "$QCNN" train --fresh --strict "$@" d.yaml
}
doubted Q0613 'the labels are 0, 1 and 2, but metric accuracy of one output tells two classes apart' 'a,b,label\n.1,.2,0\n.3,.4,1\n.5,.6,2\n'
doubted Q0613 'the label 7 of row 2 is outside of -1 to 1, where the output always is' 'a,b,label\n.1,.2,0.5\n.3,.4,7\n' --set train.metrics=[]
doubted Q0613 'metric accuracy takes the labels 1 and 2 for one class' 'a,b,label\n.1,.2,1\n.3,.4,2\n.5,.6,2\n'
tap_has err '`data.label_map: {1: -1, 2: 1}`' "and what to write"
doubted Q0614 'all 2 labels of the training data are 1' 'a,b,label\n.1,.2,1\n.3,.4,1\n'
sorted='a,b,label\n.1,.2,-1\n.3,.4,1\n.5,.6,1\n.1,.3,1\n.1,.4,1\n.1,.5,1\n.1,.6,1\n.2,.3,1\n.2,.4,1\n.2,.5,1\n.2,.6,1\n.3,.4,1\n'
doubted Q0614 'all 10 samples of the validation data have the class 1; the training data have several' "$sorted" \
	--set data.split=2
tap_exit 0 "9 samples of one class, or mixed ones" "$QCNN" train -q --strict --fresh --set data.split=3 d.yaml
doubted Q0615 'input number 2 of row 2 is 1e+300, which the model takes for an angle' 'a,b,label\n.1,.2,1\n.3,1e300,-1\n'
doubted Q0616 'loss binary_crossentropy takes the outputs as probabilities, but output 0 can be negative' 'a,b,label\n.1,.2,0\n.3,.4,1\n' --set train.loss=binary_crossentropy
tap_has err 'dense(1, sigmoid)' "and what to write"
tap_exit 0 "logits" "$QCNN" train -q --strict --fresh --set 'train.loss={binary_crossentropy: {from_logits: true}}' --set train.metrics=[] d.yaml
sed 's/^observe.*/observe z(q); head { dense(3, softmax); }/' plain.qcnn >three.qcnn
doubted Q0617 'the validation data have the class c, which no training sample has' 'a,b,label\n.1,.2,a\n.3,.4,b\n.5,.6,c\n' \
	--set model.file=three.qcnn --set data.split=2 --set 'data.label_map={a: 0, b: 1, c: 2}' --set train.loss=categorical_crossentropy
tap_has err 'data.split_shuffle' "and the cure"
printf 'a,b,label\n.1,.2,1\n.3,.4,-1\n' >d.csv
tap_exit 0 "labels -1 and 1" "$QCNN" train -q --strict --fresh -o d.bin d.yaml
printf 'a,b,label\n.1,.2,0\n.3,.4,1\n' >d.csv
tap_exit 0 "labels 0 and 1" "$QCNN" train -q --strict --fresh d.yaml
printf 'a,b\n2e6,.2\n' >far.csv
tap_exit 0 "infer: a large angle" "$QCNN" infer --data far.csv d.bin
tap_has err 'input number 1 of row 1 is 2e+06' "has a warning, too"
tap_exit 65 "infer --strict" "$QCNN" infer --strict --data far.csv d.bin
printf 'a,b,label\n.1,.2,5\n.3,.4,1\n' >five.csv
printf "a,b,label\n.1,.2,-1\n.3,.4,1\n" >signs.csv
tap_exit 0 "infer: a label that the training had not" "$QCNN" infer --data five.csv d.bin
tap_has err 'the given data have the class 5, which no training sample has' "is reported"
tap_has err 'the labels of the training are -1 and 1' "with those that it had"
tap_exit 0 "infer: only such as it had" "$QCNN" infer --strict --data signs.csv d.bin
sed -i 's/observe z(q.1.)/observe 3*z(q[1])/' plain.qcnn
printf 'a,b,label\n.1,.2,3\n.3,.4,-2.5\n' >d.csv
tap_exit 0 "an observable that reaches its labels" "$QCNN" train -q --strict --fresh d.yaml

tap_exit 65 "one output for several classes" "$QCNN" train -q --set train.loss=categorical_crossentropy table.yaml
tap_has err 'loss categorical_crossentropy compares the outputs of several classes, the model has one' "says so"
tap_done
