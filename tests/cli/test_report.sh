# SPDX-License-Identifier: Apache-2.0
# report.html: one file that needs nothing else, well formed, with what a run of each kind has to show.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
: "${PYTHON:=python3}"

# Every element is closed, ids of classes are styled, nothing is loaded, no script.
cat >check.py <<'END'
import html.parser, re, sys
void = {"meta", "br", "img", "link", "hr"}
class P(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(); self.open = []; self.tags = []
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for k, v in attrs:
            assert k not in ("src", "href", "onclick", "onload"), (tag, k, v)
        if tag not in void: self.open.append(tag)
    def handle_startendtag(self, tag, attrs): self.tags.append(tag)
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (self.open[-3:], tag)
        self.open.pop()
text = open(sys.argv[1], encoding="utf-8").read()
p = P(); p.feed(text); p.close()
assert not p.open, p.open
assert not {"script", "link", "img", "iframe", "object"} & set(p.tags)
assert "@import" not in text and "url(" not in text
assert set(re.findall(r"https?://[^\"' <]*", text)) <= {"http://www.w3.org/2000/svg"}
style = text[:text.index("</style>")]
for c in {c for cs in re.findall(r'class="([^"]*)"', text) for c in cs.split()} - {"p-bar", "qcnn-circuit", "qcnn-plot", "q-output", "q-note", "q-name"}:
    assert "." + c in style, c
assert "nan" not in re.findall(r'[ "](nan|-nan|inf|-inf)[ "]', text)
import xml.dom.minidom
for svg in re.findall(r"<svg.*?</svg>", text, re.S): xml.dom.minidom.parseString(svg)
END
whole() {
	if command -v "$PYTHON" >/dev/null; then
		tap_ok "$2: well formed, alone, styled" "$PYTHON" check.py "$1"
	else
		tap_skip "no python3 to read HTML"
	fi
}

tap_exit 0 "train" "$QCNN" train -q --set train.epochs=3 config.yaml
r=runs/latest/report.html
whole $r "classes of -1 and 1"
tap_is "$(sed -n 's/.*<path class="p-line p-c0" d="\(M[^"]*\)".*/\1/p' $r | head -n 1 | tr -cd 'ML')" MLL "a curve has a point for each of three epochs"
for text in "Learning" "Loss (mean squared error)" "Sign accuracy" "Norm of the gradient" "Confusion matrix, validation" "Outputs, validation" \
	"Output against label" "Circuit" "entangle" "Weights" "conv[0].t" "cluster-excitation" "To run it again" "train -q --set train.epochs=3" \
	"prefers-color-scheme" "@media print" "last[0].s" "report: true"; do
	tap_has $r "$text" "it has: $text" || true
done
tap_is "$(grep -c 'Final training loss of each start' $r)" 0 "one start is not compared"
for card in "training loss" "validation loss" "training sign accuracy" "validation sign accuracy" "best epoch, by validation loss" "optimizer steps" "total time"; do
	tap_has $r "<span>$card</span>" "a card: $card"
done
best=$(sed -n 's/.*"best_epoch": \([0-9]*\).*/\1/p' runs/latest/run.json)
tap_is "$(grep -c ">best epoch $best<" $r)" 2 "the best epoch is marked in the curves of loss and metric"
tap_has $r "<b>$best of 3</b><span>best epoch, by" "and named in a card"
# rows OF: how many cards each row has, by what each card says of its own; `--w` of a wide page, `--m`, `--s` of a narrow one.
rows() { sed -n "s/.*<div class=\"card\".*--$1:\([0-9]*\).*/\1/p" "$r" | awk '{ if (!left) { left = $1; line = line " " $1 } left-- } END { print line (left ? " and " left " less" : "") }'; }
tap_is "$(grep -c 'class="card"' "$r"):$(rows w):$(rows m):$(rows s)" "7: 7: 3 4: 2 2 3" "no card is alone in its row"
# Values are in tooltips, without scripts.
value() { sed -n "s/.*\"epoch\": $2,.*\"$1\": \([-0-9.e]*\).*/\1/p" runs/latest/metrics.jsonl | awk '{ printf "%.5g", $1 }'; }
tap_has $r "<title>epoch 2&#10;training $(value loss 2)&#10;validation $(value val_loss 2)</title>" "an epoch's losses"
tap_ok "a sample's output" grep -q '<title>label -1, output [-0-9.e]* (validation)</title>' $r
tap_ok "the samples of a bar" grep -q '<title>label 1, output [-0-9.]* to [-0-9.]*, samples [0-9]*</title>' $r
tap_ok "the samples of a cell of the matrix" grep -q '<title>label 1, prediction -1: [0-9]* of [0-9]* ([0-9.]* %)</title>' $r
[ "$(wc -c <$r)" -lt 200000 ]
tap_result $? "its size is $(wc -c <$r) bytes"

tap_exit 0 "three starts, no validation" "$QCNN" train -q --set train.restarts=3 --set data.split=null config.yaml
whole runs/latest/report.html "three starts"
tap_has runs/latest/report.html "Final training loss of each restart" "restarts are compared"
tap_has runs/latest/report.html "Confusion matrix, training" "without validation, training is shown"
tap_has runs/latest/report.html "infer --split=train" "and how to use the weights then"

tap_exit 0 "a head and a CSV file" "$QCNN" train -q table.yaml
whole runs/latest/report.html "a head"
tap_has runs/latest/report.html "head: dense 2 → 1" "the head is drawn"
tap_has runs/latest/report.html "samples.csv" "the file is named"

# Numbers as labels, many different ones; then several outputs.
awk 'BEGIN { print "a,b,label"; for (i = 0; i < 40; i++) printf "%g,%g,%g\n", i / 10, -i / 20, i / 40 }' >numbers.csv
cat >numbers.yaml <<'END'
model: {file: two.qcnn}
data: {train: numbers.csv, split: 0.5}
train: {epochs: 2, batch_size: 5}
END
tap_exit 0 "regression" "$QCNN" train -q numbers.yaml
whole runs/latest/report.html "numbers as labels"
tap_is "$(grep -c 'Confusion matrix' runs/latest/report.html)" 0 "no confusion matrix"
cat >three.qcnn <<'END'
QCNN 1;
qubit[3] q;
input float[2] x;
param float[3] w;
rx(x[0]) q[0]; ry(x[1]) q[1]; ry(each w) on q; cx q[0], q[2];
observe z(q);
END
awk 'BEGIN { print "a,b,label"; for (i = 0; i < 30; i++) printf "%g,%g,%d\n", i / 10, i % 7, i % 3 }' >three.csv
cat >three.yaml <<'END'
model: {file: three.qcnn}
data: {train: three.csv}
train: {epochs: 2, loss: {categorical_crossentropy: {from_logits: true}}, metrics: [accuracy]}
END
tap_exit 0 "several outputs" "$QCNN" train -q three.yaml
whole runs/latest/report.html "several outputs"
tap_has runs/latest/report.html "<title>three</title>" "the page is named after the model"
tap_has runs/latest/report.html "Outputs of the true class" "what its outputs are"

# What is mailed is what came of samples for a test, as infer says it.
tap_exit 0 "a test part" "$QCNN" train -q --set 'data.split={train: 0.5, validation: 0.2, test: 0.3}' three.yaml
whole runs/latest/report.html "a test part"
"$QCNN" infer -q --json runs/latest/weights.bin >said
card() { sed -n "s|.*<b>\\([^<]*\\)</b><span>$1<.*|\\1|p" runs/latest/report.html; }
said() { sed "s/.*\"metrics\": .*\"$1\": \([^,}]*\).*/\1/" said | awk '{ printf "%.4g", $1 }'; }
tap_is "$(card 'test accuracy')" "$(said accuracy)" "the accuracy on it is what infer says"
tap_is "$(card 'test loss')" "$(said loss)" "so is the loss"
tap_has runs/latest/report.html "<span>validation accuracy<" "those of the validation stand beside"
tap_has runs/latest/report.html "Confusion matrix, test" "and the matrix is its"
tap_is "$(grep -o "Outputs[^<]*, [a-z]*" runs/latest/report.html | sort -u)" "Outputs of the true class, test
Outputs of the true class, training" "the outputs for training stand beside those for the test"
tap_is "$(grep -c '<svg.*qcnn-circuit' runs/latest/report.html)" 1 "the circuit is drawn once, for screen and paper"

# Classes have the names that the configuration gives them, cut where long; many classes share their bars.
awk 'BEGIN { print "a,b,label"; split("calm wavy extraordinarilystormy", w, " "); for (i = 0; i < 30; i++) printf "%g,%g,%s\n", i / 10, i % 7, w[i % 3 + 1] }' >words.csv
sed 's/three.csv}/words.csv, label_map: {calm: 0, wavy: 1, extraordinarilystormy: 2}}/' three.yaml >words.yaml
tap_exit 0 "names of classes" "$QCNN" train -q words.yaml
whole runs/latest/report.html "names of classes"
tap_has runs/latest/report.html ">calm<" "a name in the matrix"
tap_has runs/latest/report.html ">label wavy<" "a name in a legend"
tap_is "$(grep -c '<figure class="third">' runs/latest/report.html)" 3 "an odd number of figures ends with three in a row"
tap_has runs/latest/report.html ">extraordinarilyst…<" "a long name is cut"
# Losses that fall by more than a decade have a logarithmic axis; labels of one output have their words in each figure; metrics their usual names.
awk 'BEGIN { print "a,b,label"; for (i = 0; i < 40; i++) printf "%g,%g,%s\n", i % 2 * 3, 0, i % 2 ? "wavy" : "calm" }' >easy.csv
cat >easy.yaml <<'END'
model: {file: two.qcnn}
data: {train: easy.csv, split: 0.5, label_map: {calm: 1, wavy: -1}}
train: {epochs: 40, batch_size: 5, metrics: [auc, f1], optimizer: {adam: {learning_rate: 0.2}}}
END
tap_exit 0 "an easy task" "$QCNN" train -q easy.yaml
whole runs/latest/report.html "an easy task"
tap_ok "its losses fall by a decade" awk '{ split($0, p, "\"loss\": "); v = p[2] + 0; if (NR == 1) first = v; if (!low || v < low) low = v } END { exit !(first > 10 * low) }' runs/latest/metrics.jsonl
svg() { awk -v want="<title>$1</title>" '/<svg/ { n = 0 } { line[n++] = $0 } /<\/svg>/ { for (i = 0; i < n; i++) if (index(line[i], want)) { for (k = 0; k < n; k++) print line[k]; exit } }' runs/latest/report.html; }
svg "Loss (mean squared error)" >loss.svg
tap_has loss.svg ">log scale<" "so the axis of the loss is logarithmic"
svg "AUC" >auc.svg
tap_is "$(grep -c '<svg' auc.svg) $(grep -c '>log scale<' auc.svg)" "1 0" "that of AUC is not, and it is called so"
tap_has runs/latest/report.html "<span>validation F1 score</span>" "likewise F1"
svg "Output against label" >labels.svg
for word in calm wavy; do
	tap_ok "a tick is $word" grep -q "p-tick p-middle.*>$word<" labels.svg
done
# A layer that is a little wider than the page stays whole.
wide_layers() {
	echo 'QCNN 1; qubit[2] q; input float[2] x; rx(x[0]) q[0]; rx(x[1]) q[1];'
	for k in 1 2; do echo "layer wide$k { param float[40] w; $(for i in $(seq 1 "$1"); do printf 'ry(w[%d]) q[0]; ' "$((i - 1))"; done)cx q[0], q[1]; }"; done
	echo 'observe z(q[1]);'
}
wide_layers 20 >wide.qcnn
sed 's/two.qcnn/wide.qcnn/; s/epochs: 40/epochs: 1/' easy.yaml >wide.yaml
tap_exit 0 "wide layers" "$QCNN" train -q wide.yaml
tap_is "$(grep -o 'class="q-frame' runs/latest/report.html | wc -l | tr -d ' ')" 2 "two layers are two frames: none is cut"
wide_layers 40 >wide.qcnn
tap_exit 0 "wider ones" "$QCNN" train -q wide.yaml
tap_is "$(sed -n 's/.*qcnn-circuit.* width="\([0-9]*\).*/\1/p' runs/latest/report.html | awk '{ print $1 <= 1000 }')" 1 "go on in the next line: they can be read on paper"
cat >six.qcnn <<'END'
QCNN 1;
qubit[3] q;
input float[2] x;
rx(x[0]) q[0]; ry(x[1]) q[1];
observe z(q);
head { dense(6, softmax); }
END
awk 'BEGIN { print "a,b,label"; for (i = 0; i < 30; i++) printf "%g,%g,%d\n", i / 10, i % 7, i % 6 }' >six.csv
cat >six.yaml <<'END'
model: {file: six.qcnn}
data: {train: six.csv}
train: {epochs: 2, loss: categorical_crossentropy, metrics: [accuracy]}
END
tap_exit 0 "six classes" "$QCNN" train -q six.yaml
tap_is "$(grep -c '>label [0-9]<' runs/latest/report.html)" 0 "six classes share the bars"
side() { sed -n 's/.*class="p-cell".* width="\([0-9]*\).*/\1/p' runs/latest/report.html | sort -nu | head -1; }
tap_ok "there is room for numbers in the matrix: $(side) px" test "$(side)" -ge 26
sed 's/dense(6/dense(11/' six.qcnn >eleven.qcnn
sed 's/six.qcnn/eleven.qcnn/' six.yaml >eleven.yaml
tap_exit 0 "eleven classes" "$QCNN" train -q eleven.yaml
tap_ok "and in that of eleven: $(side) px" test "$(side)" -ge 26

tap_exit 0 "without" "$QCNN" train -q --set log.report=false config.yaml
tap_ok "report: false" sh -c '! test -e runs/latest/report.html'

# What people wrote is text, not markup.
cp cluster.qcnn '<b>&"x.qcnn'
sed 's|^model.*|model: {file: "<b>\&\\"x.qcnn"}|' config.yaml >odd.yaml
tap_exit 0 "an odd name" "$QCNN" train -q odd.yaml
whole runs/latest/report.html "an odd name"
tap_has runs/latest/report.html "<h1>&lt;b&gt;&amp;&quot;x</h1>" "it is escaped"

# An energy in the digits that it is read for, and no histogram of one output.
cat >energy.qcnn <<'END'
QCNN 1;
qubit[2] q;
param float theta;
ry(theta) q[0];
cx q[0], q[1];
observe 0.39*z(q[0]) + 0.18*x(q[0])*x(q[1]);
END
cat >energy.yaml <<'END'
model: {file: energy.qcnn}
data: {generate: no-input}
train: {epochs: 300, loss: output, optimizer: {adam: {learning_rate: 0.1}}}
run: {precision: double, seed: 3}
END
tap_exit 0 "an energy" "$QCNN" train -q energy.yaml
whole runs/latest/report.html "an energy"
tap_ok "it has eight digits" sh -c 'grep -E -q "<b>-?[0-9.]{9,}</b><span>training loss<" runs/latest/report.html'
tap_has runs/latest/report.html ", 1 weight, trained with adam on 1 sample for 300 epochs" "what there is one of"
tap_ok "one output has no figure" sh -c '! grep -q ">Predictions<" runs/latest/report.html'
tap_has runs/latest/report.html ">1e-4<" "small numbers beside an axis are short"

# A circuit that would be too small on a page.
cat >long.qcnn <<'END'
QCNN 1;
qubit[8] q;
input float[2] x;
param float[400] t;
layer wide { for i in [0:399] { ry(t[i]) q[0]; cx q[0], q[7]; } }
observe z(q[0]);
END
tap_exit 0 "a long circuit" "$QCNN" train -q --set model.file=long.qcnn --set train.epochs=1 table.yaml
tap_has runs/latest/report.html "Each layer is one box; qcnn draw shows its gates." "its layers are boxes, and the page says so"
tap_done
