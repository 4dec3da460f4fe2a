#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every key of a configuration does what qcnn-config(5) says, shown by numbers worked out by hand.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/one_weight.sh"

make_one
cat >pair.qcnn <<'END'
QCNN 1;
qubit q;
input float[2] x;
input float y;
param float w = 0;
ry(x[0] + 10*x[1] + 100*y + w) q;
observe z(q);
END
printf 'x,label\n0.5,1\n' >single.csv
printf 'x,label\n0.1,1\n0.2,-1\n0.3,1\n0.4,-1\n0.5,1\n0.6,-1\n0.7,1\n0.8,-1\n0.9,1\n1.0,-1\n' >ten.csv
printf 'x,label\n1.1,1\n1.2,1\n1.3,1\n' >three.csv
printf 'a,kind,b,c\n0.001,7,0.002,0.003\n0.004,8.5,0.005,0.006\n' >named.csv
cat >config.yaml <<'END'
model: {file: one.qcnn}
data: {train: single.csv}
train: {epochs: 1, batch_size: 1, optimizer: {sgd: {learning_rate: 0.1}}}
run: {seed: 3, precision: double, isa: baseline}
END

# by_hand PROGRAM: w after it; g is the derivative of (cos(0.5 + w) - 1)^2.
by_hand() {
	awk "function g(w) { return -2 * (cos(0.5 + w) - 1) * sin(0.5 + w) } BEGIN { w = 0.3; $1; printf \"%.17g\", w }"
}
# rows PART: the inputs of a part's samples, in order, in tenths, from cos(x + w).
rows() {
	"$QCNN" infer --split="$1" w.bin 2>/dev/null | awk -v w="$(weight)" '
	/^[0-9]/ { c = $2; x = atan2(sqrt(1 - c * c), c) - w; printf "%s%.0f", n++ ? " " : "", 10 * x }'
}

once=$(by_hand 'w -= 0.1 * g(w)')
trained "$once" "learning_rate of sgd"
trained "$(by_hand 'w -= 0.5 * g(w)')" "another" --set train.optimizer.sgd.learning_rate=0.5
trained "$(by_hand 'for (i = 0; i < 3; i++) w -= 0.1 * g(w)')" "epochs" --set train.epochs=3
trained "$(by_hand 'for (i = 0; i < 2; i++) w -= 0.1 * g(w)')" "max_steps" --set train.epochs=3 --set train.max_steps=2
trained "$(by_hand 'for (i = 0; i < 3; i++) { v = 0.9 * v - 0.1 * g(w); w += v }')" "momentum" \
	--set train.epochs=3 --set train.optimizer.sgd.momentum=0.9
trained "$(by_hand 'for (i = 0; i < 3; i++) { s = 0.1 * g(w); v = 0.9 * v - s; w += 0.9 * v - s }')" "nesterov" \
	--set train.epochs=3 --set train.optimizer.sgd.momentum=0.9 --set train.optimizer.sgd.nesterov=true
adam='for (i = 1; i <= 3; i++) { s = g(w); m = b1 * m + (1 - b1) * s; v = b2 * v + (1 - b2) * s * s;
	w -= lr * sqrt(1 - b2^i) / (1 - b1^i) * m / (sqrt(v) + e) }'
trained "$(by_hand "lr = 0.001; b1 = 0.9; b2 = 0.999; e = 1e-7; $adam")" "adam" \
	--set train.epochs=3 --set train.optimizer=adam
trained "$(by_hand "lr = 0.2; b1 = 0.5; b2 = 0.75; e = 0.1; $adam")" "the options of adam" --set train.epochs=3 \
	--set 'train.optimizer={adam: {learning_rate: 0.2, beta_1: 0.5, beta_2: 0.75, epsilon: 0.1}}'
trained "$once" "loss: mse" --set train.loss=mse
trained "$once" "gradient: shift" --set run.gradient=shift
trained "$once" "device: ref" --set run.device=ref
trained "$once" "threads: 1" --set run.threads=1
trained "$once" "optimizations: none" --set run.optimizations=none
trained "$once" "optimizations: a list" --set 'run.optimizations=[batch_rank]'
for key in gradient=difference precision=single; do
	train --set run.$key
	tap_ok "$key is near, not equal" awk -v a="$(weight)" -v b="$once" 'BEGIN { d = a - b; exit !(d != 0 && d * d < 1e-12) }'
done
trained "$(awk 'BEGIN { printf "%.17g", 0.3 + 0.4 * (cos(1.6) - 1) * sin(1.6) }')" "model.const" --set model.const.k=2
for isa in avx2 avx512; do
	if "$QCNN" run -q --isa=$isa --data=single.csv one.qcnn >/dev/null 2>&1; then
		trained "$once" "isa: $isa" --set run.isa=$isa
		tap_ok "is recorded" sh -c "'$QCNN' weights show --json w.bin | grep -q '\"isa\": \"$isa\"'"
	else
		tap_skip "this machine lacks $isa"
		tap_skip "this machine lacks $isa"
	fi
done

# Where the weights begin.
echo '{"w": 1.25}' >start.json
further=$(by_hand 'w = 1.25; w -= 0.1 * g(w)')
trained "$further" "init: from .json, by path" --set 'train.init={from: start.json}'
echo '[1.25]' >flat.json
trained "$further" "init: from .json, in order" --set 'train.init={from: flat.json}'
train
cp w.bin start.bin
"$QCNN" weights convert start.bin start.npz
twice=$(by_hand 'for (i = 0; i < 2; i++) w -= 0.1 * g(w)')
trained "$twice" "init: from weights.bin" --set 'train.init={from: start.bin}'
trained "$twice" "init: from .npz" --set 'train.init={from: start.npz}'
sed 's/ = 0.3/ ~ uniform(-1, 1)/' one.qcnn >random.qcnn
train --set model.file=random.qcnn --set train.restarts=5
best=$(weight)
tap_is "$(sed 's/.*"start_losses": *\[\([^]]*\)\].*/\1/' runs/latest/run.json | tr ',' '\n' | sort -g | head -n 1)" \
	"$(sed 's/.*"metrics": *{[^}]*"loss": *\([-0-9.e]*\).*/\1/' runs/latest/run.json)" "restarts: the lowest final loss wins"
tap_is "$(wc -l <runs/latest/metrics.jsonl)" 5 "and all are recorded"
train --set model.file=random.qcnn --set run.seed=4
tap_ok "seed" test "$(weight)" != "$best"

# Splits, in order, floor(f N) rows, the last part takes the rest.
set_ten() { train --set data.train=ten.csv "$@"; }
set_ten --set data.split=0.75
tap_is "$(rows train)|$(rows validation)" "1 2 3 4 5 6 7|8 9 10" "split: a number"
set_ten --set 'data.split={train: 0.5, validation: 0.25, test: 0.25}'
tap_is "$(rows train)|$(rows validation)|$(rows test)" "1 2 3 4 5|6 7|8 9 10" "split: three parts"
set_ten --set 'data.split={test: 0.3, train: 0.7}'
tap_is "$(rows test)|$(rows train)" "8 9 10|1 2 3 4 5 6 7" "split: two parts, train before test"
set_ten --set data.split=0.5 --set data.split_shuffle=true
shuffled="$(rows train) $(rows validation)"
tap_ok "split_shuffle" test "$shuffled" != "1 2 3 4 5 6 7 8 9 10"
tap_is "$(echo "$shuffled" | tr ' ' '\n' | sort -n | paste -sd ' ')" "1 2 3 4 5 6 7 8 9 10" "loses none"
set_ten --set data.split=0.5 --set data.split_shuffle=true --set run.seed=5
tap_ok "by the seed" test "$shuffled" != "$(rows train) $(rows validation)"
set_ten --set data.split=6
tap_is "$(rows train)|$(rows validation)" "1 2 3 4 5 6|7 8 9 10" "split: a number of samples"
set_ten --set 'data.split={train: 3, test: 2}'
tap_is "$(rows train)|$(rows test)" "1 2 3|4 5" "split: numbers, some samples in no part"
tap_exit 78 "more than there are" "$QCNN" train -q --set data.train=ten.csv --set data.split=11 config.yaml
printf 'x,label\n0.1,1\n0.2,1\n0.3,1\n0.4,1\n0.5,1\n0.6,1\n0.7,-1\n0.8,-1\n0.9,-1\n1.0,1\n' >sorted.csv
set_ten --set data.train=sorted.csv --set data.split=0.6 --set data.split_stratify=true
tap_is "$(rows train)|$(rows validation)" "1 2 3 4 7 8|5 6 9 10" "split_stratify"
set_ten --set data.validation=three.csv --set data.test=single.csv
tap_is "$(rows train)|$(rows validation)|$(rows test)" "1 2 3 4 5 6 7 8 9 10|11 12 13|5" "files of validation and test"
tap_is "$("$QCNN" infer w.bin | sed -n 's/^loss	//p')" "$("$QCNN" infer --split=test w.bin | sed -n 's/^loss	//p')" "infer prefers the test part"
set_ten --set train.batch_size=3
tap_has runs/latest/metrics.jsonl '"step": 4,' "batch_size: the last batch is smaller"
set_ten --set train.batch_size=10 --set train.shuffle=false
tap_has runs/latest/metrics.jsonl '"step": 1,' "one batch"
for shuffle in true false; do
	set_ten --set train.shuffle=$shuffle
	weight >$shuffle
done
tap_is "$(awk 'BEGIN { w = 0.3; for (i = 1; i <= 10; i++) { l = i % 2 ? 1 : -1; a = i / 10 + w; w += 0.2 * (cos(a) - l) * sin(a) } printf "%.10f", w }')" \
	"$(awk '{ printf "%.10f", $1 }' false)" "shuffle: false goes in order"
tap_ok "shuffle: true does not" sh -c '! cmp -s true false'

# Generated data.
cat >generate.yaml <<'END'
model: {file: wide.qcnn}
data: {generate: cluster-excitation, rounds: 5, split: 0.8}
train: {epochs: 1, batch_size: 4, metrics: [sign_accuracy, accuracy]}
END
printf 'QCNN 1;\nqubit[3] q;\ninput float[3] x;\nparam float[3] t;\nrx(each x) on q;\nry(each t) on q;\nobserve z(q[0])*z(q[1])*z(q[2]);\n' >wide.qcnn
"$QCNN" train -q -o w.bin generate.yaml
tap_is "$("$QCNN" infer --split=train w.bin | grep -c '^[0-9]') $("$QCNN" infer w.bin | grep -c '^[0-9]')" "12 3" "rounds: a sample per qubit and round"
tap_is "$(sed 's/.*"val_sign_accuracy": *\([^,]*\),.*"val_accuracy": *\([^,]*\),.*/\1/' runs/latest/metrics.jsonl)" \
	"$(sed 's/.*"val_sign_accuracy": *\([^,]*\),.*"val_accuracy": *\([^,]*\),.*/\2/' runs/latest/metrics.jsonl)" "metrics: both, equal for labels of -1 and 1"

printf 'QCNN 1;\nqubit[4] q;\ninput state psi;\nparam float w = 0;\namplitudes(psi) q;\nry(w) q[1];\nobserve z(q[0])*z(q[1]);\n' >phase.qcnn
sed -e 's/wide.qcnn/phase.qcnn/' -e 's/cluster-excitation, rounds: 5/ising-chain, rounds: 10/' generate.yaml >phase.yaml
tap_exit 0 "generate: states" "$QCNN" train -q -o w.bin --set train.optimizer.sgd.learning_rate=0 phase.yaml
tap_ok "neighbours agree more where the field is below 1" sh -c "'$QCNN' infer --split=train w.bin | awk '/^[0-9]/ { s[\$NF] += \$2; n[\$NF]++ }
	END { exit !(n[1] > 0 && n[-1] > 0 && s[1] / n[1] > s[-1] / n[-1] && s[-1] > 0) }'"
tap_exit 78 "a state where numbers are wanted" "$QCNN" train -q --set data.generate=cluster-ising generate.yaml
tap_exit 78 "numbers where a state is wanted" "$QCNN" train -q --set data.generate=stripes phase.yaml

# Columns by name, and other labels.
cat >named.yaml <<'END'
model: {file: pair.qcnn}
data: {train: named.csv, inputs: {x: [c, a], y: [b]}, label: kind, label_map: {7: -1, 8.5: 1}}
train: {epochs: 1, optimizer: {sgd: {learning_rate: 0}}}
run: {precision: double}
END
"$QCNN" train -q -o w.bin named.yaml
# inferred OPTIONS...: outputs and labels of w.bin, exact.
inferred() { "$QCNN" infer -o o.csv "$@" w.bin >/dev/null 2>err; awk -F, 'NR == 1 { l = $NF == "label" } NR > 1 { printf("%.10f %s ", $2, (l ? $NF : "")) }' o.csv; }
tap_is "$(inferred --split=train)" \
	"$(awk 'BEGIN { printf "%.10f 7 %.10f 8.5 ", cos(0.003 + 0.01 + 0.2), cos(0.006 + 0.04 + 0.5) }')" "inputs, label, label_map"
printf 'a,b,c\n0.003,0.001,0.002\n' >unnamed.csv
tap_exit 0 "new data by the same names" "$QCNN" infer --data=unnamed.csv w.bin

# Names of columns that look like numbers, in the weights and in the resolved configuration.
printf '01,02,1e1,007,w\n0.003,0.002,0.001,1,1\n0.006,0.005,0.004,-1,1\n' >digits.csv
cat >digits.yaml <<'END'
model: {file: pair.qcnn}
data: {train: digits.csv, inputs: {x: [01, 02], y: 1e1}, label: 007, sample_weight: w}
train: {epochs: 1, optimizer: {sgd: {learning_rate: 0}}, callbacks: {command: {run: [printf, "%s ", 010, true], on: end}}}
run: {precision: double}
END
tap_exit 0 "columns whose names are digits" "$QCNN" train -q -o w.bin --set log.name=digits digits.yaml
tap_exit 0 "infer finds them" "$QCNN" infer --split=train w.bin
cp "$(ls -d runs/digits-*)/config.yaml" resolved.yaml
tap_ok "the resolved configuration names them as they were written" \
	sh -c 'grep -F "inputs: {x: [\"01\", \"02\"], y: \"1e1\"}" resolved.yaml && grep -F "label: \"007\"" resolved.yaml &&
	grep -F "run: [printf, \"%s \", \"010\", \"true\"]" resolved.yaml'
tap_exit 0 "training works with it" "$QCNN" train -q --fresh --set log.name=again resolved.yaml

# Without data.inputs, names of the training's columns are in the weights.
cat >order.yaml <<'END'
model: {file: pair.qcnn}
data: {train: named.csv, label: kind, label_map: {7: -1, 8.5: 1}}
train: {epochs: 1, optimizer: {sgd: {learning_rate: 0}}}
run: {precision: double}
END
tap_exit 0 "columns in their order" "$QCNN" train -q -o w.bin order.yaml
outputs() { "$QCNN" infer "$@" w.bin 2>err | awk '/^[0-9]/ { printf "%s ", $2 }'; }
printf 'a,b,c\n0.003,0.001,0.002\n' >same.csv
want=$(outputs --data=same.csv)
tap_ok "an output" test -n "$want"
printf 'c,id,b,a\n0.002,7,0.001,0.003\n' >mixed.csv
tap_is "$(outputs --data=mixed.csv)" "$want" "a file with them in another order, and another column"
printf '0.003,0.001,0.002\n' >bare.csv
tap_is "$(outputs --data=bare.csv)" "$want" "one without names: by their order"
tap_ok "without a word" sh -c '! grep -v "no labels in" err | grep -q names'
printf 'u,v,w\n0.003,0.001,0.002\n' >other.csv
tap_is "$(outputs --data=other.csv)" "$want" "so are others"
tap_has err "warning[Q0612]: the columns have other names than those of the training; they are taken in their order" "with a warning"
tap_has err 'the training took the 3 columns `a`, `b` and `c`; this file has `u`, `v` and `w`' "and both lists of names"
tap_exit 65 "which is an error with --strict" "$QCNN" infer --strict --data=other.csv w.bin
printf 'u,v\n0.003,0.001\n' >few.csv
tap_exit 65 "too few of others" "$QCNN" infer --data=few.csv w.bin
tap_has err 'the training took the 3 columns `a`, `b` and `c`; this file has `u` and `v`' "the names are given"
tap_ok "--const, which infer does not have, is not proposed" sh -c '! grep -e --const err'
printf 'a,b,cc\n0.003,0.001,0.002\n' >slip.csv
tap_exit 65 "one that is not there" "$QCNN" infer --data=slip.csv w.bin
tap_has err 'no column `c`, which the training had' "is named"
tap_has err 'the training took the 3 columns `a`, `b` and `c`; this file has `a`, `b` and `cc`' "with all names"
printf 'a,xyz\n0.003,1\n' >lone.csv
tap_exit 65 "one of three" "$QCNN" infer --data=lone.csv w.bin
tap_is "$(grep -c -e '^error' -e 'the training took' err)" 2 "one error, with the lists once"
printf 'a,b,c,target\n0.003,0.001,0.002,good\n' >target.csv
tap_is "$(outputs --data=target.csv --set data.label=target --set 'data.label_map={good: 1}')" "$want" "labels of another name"
tap_exit 0 "their loss" "$QCNN" infer --data=target.csv --set data.label=target --set 'data.label_map={good: 1}' w.bin
tap_ok "is printed" grep -q '^loss' out
tap_exit 2 "other samples than those of --data" "$QCNN" infer --data=same.csv --set data.train=other.csv w.bin
sed '1s/.*/f0,kind,f1,f2/' named.csv >numbered.csv
"$QCNN" train -q --set data.train=numbered.csv -o f.bin order.yaml
printf 'f0,xyz\n0.003,1\n' >lone.csv
tap_exit 65 "one of three that are numbered" "$QCNN" infer --data=lone.csv f.bin
tap_is "$(grep -c -e '^error' -e 'did you mean' err)" 1 "one error, and no column that is in use is proposed"
printf 'a,b,c,a\n0.003,0.001,0.002,1\n' >twice.csv
tap_exit 65 "one that is there twice" "$QCNN" infer --data=twice.csv w.bin
tap_has err 'two columns are named `a`' "is named"
tap_is "$(outputs --hosts local:2 --data=mixed.csv)" "$want" "workers have them so, too"
mkfifo pipe.csv
cat mixed.csv >pipe.csv &
tap_is "$(outputs --data=pipe.csv)" "$want" "a pipe is read by the names, too"
tap_is "$("$QCNN" infer --data=- w.bin <mixed.csv 2>err | awk '/^[0-9]/ { printf "%s ", $2 }')" "$want" "so is the standard input"

# Classes by name, and what the inputs go through before the model gets them.
cat >plain.qcnn <<'END'
QCNN 1;
qubit[2] q;
input float[2] x;
param float w = 0;
ry(each x) on q;
ry(w) q[0];
observe z(q[0]);
observe z(q[1]);
END
printf 'a,kind,b\n1,cat,10\n3,dog,30\n2,cat,50\n5,"dog",20\n' >class.csv
cat >class.yaml <<'END'
model: {file: plain.qcnn}
data: {train: class.csv, label: kind, label_map: {cat: -1, dog: 1}, split: 0.5}
train: {epochs: 1, loss: mse, optimizer: {sgd: {learning_rate: 0}}}
run: {precision: double}
END
sed -i '/observe z(q\[1\])/d' plain.qcnn
# outputs PART OPTIONS...: outputs and labels.
outputs() {
	part=$1
	shift
	"$QCNN" train -q -o w.bin "$@" class.yaml && inferred --split="$part"
}
tap_is "$(outputs validation)" "$(awk 'BEGIN { printf "%.10f cat %.10f dog ", cos(2), cos(5) }')" "label_map: names of classes"
tap_is "$(outputs validation --set 'data.transform=[{min_max: {low: 1, high: 2}}]')" \
	"$(awk 'BEGIN { printf "%.10f cat %.10f dog ", cos(1.5), cos(3) }')" "transform: learnt from the training part, applied to the other"
tap_is "$(outputs train --set 'data.transform=[standardize]')" "$(awk 'BEGIN { printf "%.10f cat %.10f dog ", cos(-1), cos(1) }')" "standardize"
tap_is "$(outputs validation --set 'data.transform=[{min_max: {low: 0, high: 2}}, l2]')" \
	"$(awk 'BEGIN { printf "%.10f cat %.10f dog ", cos(1 / sqrt(17)), cos(4 / sqrt(17)) }')" "one step after the other"
printf 'a,b\n2,50\n' >later.csv
tap_is "$(inferred --data=later.csv | tr -d ' ')" "$(awk 'BEGIN { printf "%.10f", cos(1 / sqrt(17)) }')" \
	"new data go through the same"
# Four columns on a line: their first component is the place on it.
printf 'a,b,c,d,label\n1,2,2,4,1\n2,4,4,8,-1\n3,6,6,12,1\n5,10,10,20,-1\n' >line.csv
printf 'QCNN 1;\nqubit q;\ninput float x;\nparam float w = 0;\nry(x + w) q;\nobserve z(q);\n' >narrow.qcnn
tap_is "$(outputs validation --set data.train=line.csv --set data.label=label --set data.label_map= --set model.file=narrow.qcnn \
	--set data.transform='[pca]')" "$(awk 'BEGIN { printf "%.10f 1 %.10f -1 ", cos(7.5), cos(17.5) }')" "pca: as many as the input takes"
cut -d, -f1-4 line.csv | sed -n '1p;4p' >later.csv
tap_is "$(inferred --data=later.csv | tr -d ' ')" "$(awk 'BEGIN { printf "%.10f", cos(7.5) }')" "of new data too"
tap_exit 78 "another number of components" "$QCNN" train -q --set 'data.transform=[{pca: {components: 2}}]' class.yaml --set model.file=narrow.qcnn
tap_exit 65 "more columns than the model takes" "$QCNN" train -q --set model.file=narrow.qcnn class.yaml
tap_exit 65 "a class without a number" "$QCNN" train -q --set data.label_map='{cat: 1}' class.yaml
tap_exit 78 "an unknown step" "$QCNN" train -q --set 'data.transform=[minmax]' class.yaml

# Where the run is kept.
train --set log.dir=there --set log.name=mine
tap_ok "log.dir, log.name" sh -c 'test -s there/mine-*/weights.bin && test there/latest/weights.bin -ef there/mine-*/weights.bin'

# Every key of the schema is set above, or in another test of the commands.
missing=
for key in $(sed -n 's/^KEY([A-Z_]*, "[a-z]*\.\([a-z_]*\)".*/\1/p' "$top_srcdir/cli/config/schema.def"); do
	grep -q "\b$key\b[:=.]" "$top_srcdir"/tests/cli/test_*.sh "$top_srcdir"/tests/net/test_*.sh || missing="$missing $key"
done
tap_is "$missing" "" "every key has a point"
tap_done
