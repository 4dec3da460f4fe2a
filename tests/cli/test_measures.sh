#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Losses, schedules, optimisers' shared options, regularisers and weights of samples in a configuration,
# by numbers worked out by hand; metrics that are matrices, in all that is printed.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/one_weight.sh"

make_one
printf 'x,label,often\n0.5,1,2\n' >single.csv
printf 'x,label\n0.1,1\n1.2,-1\n2.3,1\n2.4,-1\n' >four.csv
cat >config.yaml <<'END'
model: {file: one.qcnn}
data: {train: single.csv, inputs: {x: [x]}}
train: {epochs: 3, batch_size: 1, optimizer: {sgd: {learning_rate: 0.1}}}
run: {seed: 3, precision: double, isa: baseline}
END
cat >measured.yaml <<'END'
model: {file: one.qcnn}
data: {train: four.csv, validation: four.csv}
train:
  epochs: 1
  optimizer: {sgd: {learning_rate: 0}}
  metrics: [mae, {binary_accuracy: {threshold: 0.9}}, confusion, {huber: {delta: 0.5}}, auc]
run: {precision: double, isa: baseline}
END

# by_hand PROGRAM: w after three times PROGRAM; c is the output, g the slope of (c - 1)^2.
by_hand() {
	awk "BEGIN { w = 0.3; for (i = 0; i < 3; i++) { c = cos(0.5 + w); s = -sin(0.5 + w); g = 2 * (c - 1) * s; $1 };
		printf \"%.17g\", w }"
}

trained "$(by_hand 'w -= 0.1 * g')" "nothing but descent"
trained "$(by_hand 'w -= 0.1 * 0.5^i * g')" "schedule: exponential" \
	--set 'train.schedule={exponential: {decay_rate: 0.5, decay_steps: 1}}'
trained "$(by_hand 'w -= (i < 2 ? 0.4 : 0.2) * g')" "schedule: piecewise" \
	--set 'train.schedule={piecewise: {boundaries: [1], values: [0.4, 0.2]}}'
trained "$(by_hand 'w -= 0.05 * (1 + cos(3.14159265358979324 * i / 3)) * g')" "cosine: as long as the training" \
	--set train.schedule=cosine
trained "$(by_hand 'w -= 0.2 * (1 - i / 4) * g')" "options one by one" --set train.schedule.polynomial.decay_steps=4 \
	--set train.schedule.polynomial.end_learning_rate=0 --set train.schedule.polynomial.initial_learning_rate=0.2
trained "$(by_hand 'w += 0.1 * s')" "loss: hinge" --set train.loss=hinge
trained "$(by_hand 'w += 0.1 * 0.05 * s')" "loss with an option" --set train.loss.huber.delta=0.05
trained "$(by_hand 'w -= 0.1 * (g + 0.4 * w)')" "regularizers: l2" --set 'train.regularizers=[{l2: 0.2}]'
trained "$(by_hand 'w -= 0.1 * (g + 0.4 * w + 0.3)')" "regularizers: by path" \
	--set 'train.regularizers=[{l2: 0.2, weights: "?"}, {l1: 0.3, weights: w*}]'
shorten='n = w < 0 ? -w : w; w *= (n < most ? n : most) / (1e-7 + n)'
trained "$(by_hand "w -= 0.1 * g; most = 0.2; $shorten")" "constraints: max_norm" \
	--set 'train.constraints=[{max_norm: {max_value: 0.2}}]'
trained "$(by_hand "w -= 0.5 * g; most = 0.01; $shorten")" "constraints: by path" \
	--set 'train.constraints=[{max_norm: {max_value: 0.01}, weights: "?"}]' --set train.optimizer.sgd.learning_rate=0.5
trained 0 "constraints: non_neg" --set 'train.constraints=[non_neg]' --set train.optimizer.sgd.learning_rate=10
trained "$(by_hand 'w -= 0.1 * 3 * g')" "class_weight: 3" --set 'train.class_weight={1: 3}'
trained "$(by_hand 'w -= 0.1 * 2 * g')" "sample_weight: a column" --set data.sample_weight=often
trained "$(by_hand 'w -= 0.1 * 6 * g')" "both" --set data.sample_weight=often --set 'train.class_weight={1: 3}'
trained "$(by_hand 'w -= 0.1 * 0.5 * w; w -= 0.1 * g')" "weight_decay" --set train.optimizer.sgd.weight_decay=0.5
trained "$(by_hand 'w -= 0.1 * (g > 0.2 ? 0.2 : g)')" "clipvalue" --set train.optimizer.sgd.clipvalue=0.2
trained "$(by_hand 'w -= 0.1 * g; m = i ? 0.9 * m + 0.1 * w : w; if (i == 2) w = m')" "use_ema" \
	--set train.optimizer.sgd.use_ema=true --set train.optimizer.sgd.ema_momentum=0.9

tap_exit 78 "two ways to clip" "$QCNN" train -q --set train.optimizer.sgd.clipvalue=1 --set train.optimizer.sgd.clipnorm=1 config.yaml
tap_has err "clipnorm, clipvalue and global_clipnorm of sgd exclude each other" "are named"
tap_exit 78 "a class without samples" "$QCNN" train -q --set 'train.class_weight={0: 2}' config.yaml
tap_has err "class_weight names class 0, which no label of the training data has" "is named"
tap_exit 78 "a pattern for nothing" "$QCNN" train -q --set 'train.regularizers=[{l1: 1, weights: head.*}]' config.yaml
tap_has err 'no trainable weights match `head.*`' "is named"
tap_exit 78 "a constraint for nothing" "$QCNN" train -q --set 'train.constraints=[{non_neg: , weights: head.*}]' config.yaml
tap_has err 'constraint non_neg: no trainable weights match `head.*`' "is named"
list=non_neg
for i in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do list="$list, non_neg"; done
tap_exit 0 "16 constraints" "$QCNN" config --set "train.constraints=[$list]" config.yaml
tap_exit 78 "17 constraints" "$QCNN" config --set "train.constraints=[$list, non_neg]" config.yaml
tap_has err 'more than 16 constraints' "are refused"
tap_exit 78 "an unknown constraint" "$QCNN" train -q --set 'train.constraints=[max_nrom]' config.yaml
tap_has err 'did you mean `max_norm`?' "gets a suggestion"
tap_exit 78 "an option of another one" "$QCNN" train -q --set 'train.constraints=[{non_neg: {axis: 0}}]' config.yaml
tap_has err 'non_neg has no option `axis`' "is named"
tap_exit 65 "weights that are not there" "$QCNN" train -q --set data.sample_weight=seldom config.yaml
tap_has err 'no column `seldom` for the weights' "are named"
printf 'x,label,often\n0.5,1,-2\n' >single.csv
tap_exit 65 "a negative weight" "$QCNN" train -q --set data.sample_weight=often config.yaml
tap_has err 'the weight -2 is negative' "is named"
tap_exit 78 "an option that is wanted" "$QCNN" config --set train.schedule=exponential config.yaml
tap_has err 'exponential needs the option `decay_rate`' "is named"

# Outputs cos(0.4), cos(1.5), cos(2.6), cos(2.7) are about 0.92, 0.07, -0.86, -0.90 for labels 1, -1, 1, -1.
tap_exit 0 "metrics with options, and a matrix" "$QCNN" train -q -o m.bin measured.yaml
line=$(cat runs/latest/metrics.jsonl)
tap_is "$(echo "$line" | sed 's/.*"binary_accuracy": \([0-9.]*\), "confusion": \(\[\[.*\]\]\), "huber": \(0\.[0-9]\).*"auc": \([0-9.]*\), "val_loss.*/\1 \2 \3 \4/')" \
	"0.75 [[1, 1], [1, 1]] 0.3 0.75" "metrics.jsonl"
case $line in *'"val_confusion": [[1, 1], [1, 1]]'*) tap_result 0 "of the validation too" ;; *) tap_result 1 "of the validation too" ;; esac
tap_exit 0 "infer" "$QCNN" infer --json m.bin
tap_has out '"confusion": [[1, 1], [1, 1]], ' "its JSON"
tap_exit 0 "infer as text" "$QCNN" infer m.bin
tap_has out "confusion	-1	1
-1	1	1
1	1	1" "its text, with the classes"
tap_exit 0 "infer with another metric" "$QCNN" infer --json --set train.metrics=recall --data four.csv m.bin
tap_is "$(sed 's/.*"metrics": {"loss": [0-9.]*, //' out)" '"recall": 0.5}}' "has it alone"
tap_exit 0 "with a threshold" "$QCNN" infer --set 'train.metrics={confusion: {threshold: -0.88}}' m.bin
tap_has out "confusion	-1	1
-1	1	1
1	0	2" "a row for each label"
tap_exit 0 "without --data" "$QCNN" infer --set train.metrics=recall m.bin
tap_has out "recall	0.5" "the rows of the training"
tap_exit 78 "infer with an unknown metric" "$QCNN" infer --set train.metrics=recal m.bin
tap_has err 'did you mean `recall`?' "gets a suggestion"
"$QCNN" infer --json m.bin | sed 's/.*"metrics": //' >inferred
sed 's/.*"val_loss": \([^,]*\),.*/{"loss": \1,/' runs/latest/metrics.jsonl >trained
tap_ok "the loss of the validation" grep -qF "$(tr -d '\n' <trained)" inferred
tap_ok "run.json" grep -q '"confusion": *\[' runs/latest/run.json

# What is resolved reads back, lists and left-out options too.
tap_exit 0 "resolved" "$QCNN" config --set 'train.schedule={piecewise: {boundaries: [1, 2], values: [1, 0.5, 0.25]}}' measured.yaml
cp out resolved.yaml
tap_has resolved.yaml "      boundaries: [1, 2] " "a list"
tap_has resolved.yaml "      clipnorm: null " "an option that is left out"
"$QCNN" config --json resolved.yaml >one.json
"$QCNN" config --json --set 'train.schedule={piecewise: {boundaries: [1, 2], values: [1, 0.5, 0.25]}}' measured.yaml >other.json
tap_same one.json other.json "the resolved form means the same"

# Losses that compare probabilities: one output may be that of label 1, and labels are shares.
printf 'x,label\n0.1,1\n1.2,0\n' >share.csv
trained "$(by_hand 'w -= 0.1 * s * (1 - 2 * 1)')" "one_minus_probability of one output" --set train.loss=one_minus_probability
for loss in binary_crossentropy kl one_minus_probability poisson; do
	tap_exit 0 "$loss: labels 0 and 1" "$QCNN" train -q --fresh --set data.train=share.csv --set data.validation= --set train.metrics=[] --set train.loss=$loss measured.yaml
	tap_exit 65 "$loss: labels -1 and 1" "$QCNN" train -q --fresh --set train.loss=$loss measured.yaml
	tap_has err "the label of row 1 of the training data is -1: loss $loss takes" "the row is named"
	tap_has err "data.label_map gives labels others" "and a way out"
	[ $loss = poisson ] || tap_exit 0 "$loss: by that way" "$QCNN" train -q --fresh --set train.loss=$loss --set 'data.label_map={-1: 0, 1: 1}' measured.yaml
done
tap_exit 65 "categorical_crossentropy of one output" "$QCNN" train -q --fresh --set train.loss=categorical_crossentropy --set data.train=share.csv measured.yaml
tap_has err "binary_crossentropy is for one" "names the one that is"
tap_exit 78 "min_max upside down" "$QCNN" train -q --fresh --set 'data.transform=[{min_max: {low: 1, high: 1}}]' measured.yaml
tap_has err "low has to be below high" "is refused"

# The outputs themselves are minimised, of a model without inputs by itself: labels do not count.
trained "$(by_hand 'w -= 0.1 * s')" "output" --set train.loss=output
cat >bare.qcnn <<'END'
QCNN 1;
qubit[2] q;
param float[2] w;
ry(each w) on q;
cx q[0], q[1];
observe z(q);
END
echo '{model: {file: bare.qcnn}, data: {generate: no-input}, train: {epochs: 80, loss: output, optimizer: {adam: {learning_rate: 0.2}}}, run: {seed: 3, precision: double}}' >bare.yaml
tap_exit 0 "a model without inputs" "$QCNN" train --no-progress --fresh --set log.dir=bare bare.yaml
tap_is "$(grep -c 'the same for every sample' err)" 0 "without a warning"
tap_exit 0 "its loss" "$QCNN" infer --split=train --json bare/latest/weights.bin
tap_ok "is the mean of both outputs, nearly -1" awk 'match($0, /"loss": [-0-9.e]+/) { x = substr($0, RSTART + 8, RLENGTH - 8) + 0; exit !(x < -0.9 && x >= -1) }' out
cp bare/latest/weights.bin alone.bin
tap_exit 0 "by two workers" "$QCNN" train -q --fresh --set log.dir=bare --hosts local:2 bare.yaml
tap_ok "the same weights" cmp alone.bin bare/latest/weights.bin
tap_exit 78 "without data" "$QCNN" train -q --fresh --set data.generate= bare.yaml
tap_has err 'this model has no inputs: give `data.generate: no-input`' "the message names what to give"
tap_exit 78 "another generator" "$QCNN" train -q --fresh --set data.generate=cluster-excitation bare.yaml
tap_has err 'cluster-excitation makes one input, of numbers, the model has none' "is refused"
tap_exit 78 "no input for a model that has one" "$QCNN" train -q --fresh --set data.train= --set data.inputs= --set data.generate=no-input config.yaml
tap_has err 'no-input makes no input, the model has one of numbers' "is refused"
tap_done
