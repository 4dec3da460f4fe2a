# SPDX-License-Identifier: Apache-2.0
# Files for training, validation and test in every format, in memory and streamed; states as inputs; weights of samples.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/arrays.sh"

# Rows of two inputs, label, weight.
train="1 2 0 1  3 1 1 2  0 3 0 0  2 2 1 1"
validation="1 1 1 1  2 3 0 3"
test="3 3 1 1"
columns() { # SET COLUMN...: these of every row
	set_of=$1
	shift
	for row in $(eval "echo \$$set_of" | awk '{ for (i = 1; i <= NF; i += 4) print $i "," $(i + 1) "," $(i + 2) "," $(i + 3) }'); do
		for column in "$@"; do echo "$row" | cut -d, -f"$column"; done
	done
}
for part in train validation test; do
	n=$(columns $part 1 | wc -l | tr -d ' ')
	{ echo a,b,label,w; columns $part 1 2 3 4 | paste -d, - - - -; } >w$part.csv
	cut -d, -f1-3 w$part.csv >$part.csv
	{ npy '|u1' "($n, 2)"; bytes $(columns $part 1 2); } >x.npy
	{ npy '|u1' "($n,)"; bytes $(columns $part 3); } >y.npy
	{ npy '|u1' "($n,)"; bytes $(columns $part 4); } >w.npy
	npz $part.npz x y w
	cp x.npy $part.npy
	{ bytes 0 0 8 2; be32 "$n"; be32 2; bytes $(columns $part 1 2); } >$part-images-idx2-ubyte
	{ bytes 0 0 8 1; be32 "$n"; bytes $(columns $part 3); } >$part-labels-idx1-ubyte
	gzip -c $part-images-idx2-ubyte >z$part-images-idx2-ubyte.gz
	cp $part-labels-idx1-ubyte z$part-labels-idx1-ubyte
done
cat >two.qcnn <<'END'
qubit[2] q;
input float[2] x;
param float[2] w = {0.1, 0.2};
rx(each x) on q;
ry(each w) on q;
cz q[0], q[1];
observe z(q[0]);
END
cat >files.yaml <<'END'
model: {file: two.qcnn}
data: {label_map: {0: -1, 1: 1}, transform: [standardize]}
train: {epochs: 3, batch_size: 2, metrics: [accuracy]}
END
# losses: those of all epochs, training and validation.
losses() { sed 's/.*"loss": \([^,]*\),.*"val_loss": \([^,]*\),.*/\1 \2/' runs/latest/metrics.jsonl; }

# ---- every format, both ways ----

for w in '' w; do
	rm -f want
	for how in csv npz images-idx2-ubyte zip; do
		prefix= ending=.$how
		case $how in
		images-idx2-ubyte) [ -z "$w" ] || continue; ending=-$how ;;
		csv) prefix=$w ;;
		zip) [ -z "$w" ] || continue; prefix=z ending=-images-idx2-ubyte.gz ;;
		esac
		for streaming in off on; do
			tap_exit 0 "$how${w:+ with weights}, streaming $streaming" "$QCNN" train -q -o w.bin --fresh --set data.streaming=$streaming ${w:+--set data.sample_weight=w} \
				--set data.train=${prefix}train$ending --set data.validation=${prefix}validation$ending --set data.test=${prefix}test$ending files.yaml
			losses >got
			"$QCNN" infer --json w.bin 2>>err >>got
			[ -f want ] || cp got want
			tap_same got want "the same losses, and the same of the test file"
		done
	done
	[ -n "$w" ] || cp want plain
done
tap_ok "weights change the losses" sh -c '! cmp -s want plain'
tap_exit 0 "principal components beside weights" "$QCNN" train -q -o p.bin --set data.transform=pca --set data.sample_weight=w \
	--set data.train=wtrain.csv files.yaml
cat >named.qcnn <<'END'
qubit[2] q;
input float a;
input float b;
rx(a) q[0];
ry(2*b) q[1];
observe z(q);
END
"$QCNN" run -f csv -D train.csv named.qcnn >named
{ echo c,b,label,a; awk -F, 'NR > 1 { print 7 "," $2 "," $3 "," $1 }' train.csv; } >other-order.csv
tap_exit 0 "columns of the inputs' names" "$QCNN" run -f csv -D other-order.csv named.qcnn
tap_same out named "are found in any order, beside others"
sed 1s/b/B/ other-order.csv | cut -d, -f2- >other-name.csv
tap_exit 0 "columns of other names" "$QCNN" run -f csv -D other-name.csv named.qcnn
tap_ok "are taken in the file's order" sh -c '! cmp -s out named'
tap_exit 65 "an .npy file has no labels" "$QCNN" train -q --set data.train=train.npy files.yaml
tap_exit 0 "but can be evaluated" "$QCNN" infer -q --data test.npy w.bin
tap_exit 66 "a test file that is not there" "$QCNN" train -q --set data.train=train.csv --set data.test=none.csv files.yaml
tap_has err 'cannot read none.csv' "is named"
{ echo a,b,c,label; echo 1,2,3,0; } >wide.csv
for streaming in off on; do
	tap_exit 65 "a validation file of another width, streaming $streaming" "$QCNN" train -q --set data.streaming=$streaming --set data.train=train.csv \
		--set data.validation=wide.csv files.yaml
	tap_has err 'wide.csv:1:1' "its place"
	{ npy '|u1' '(1, 3)'; bytes 1 2 3; } >x.npy
	npz wide.npz x y
	tap_exit 65 "an array of another width, streaming $streaming" "$QCNN" train -q --set data.streaming=$streaming --set data.transform=[] --set data.train=wide.npz files.yaml
	tap_has err 'array "x" has shape (1, 3), but the model'"'s input" "the shape"
	tap_has err ' --> two.qcnn:2:' "and the input's declaration"
done

# ---- states: |0>, |1>, |+> and (|0> + i |1>) / sqrt(2), as complex numbers, as pairs of columns ----

cat >state.qcnn <<'END'
qubit q;
input state psi;
amplitudes(psi) q;
observe x(q), y(q), z(q);
END
half='363 004 065 077'     # 1 / sqrt(2) as a float
{
	npy '<c8' '(4, 2)'
	zero='000 000 000 000' one='000 000 200 077'
	for octal in $one $zero $zero $zero $zero $zero $one $zero $half $zero $half $zero $half $zero $zero $half; do printf "\\$octal"; done
} >states.npy
h=0.7071067811865476
printf '%s\n' r0,i0,r1,i1 1,0,0,0 0,0,1,0 "$h,0,$h,0" "$h,0,0,$h" >states.csv
cp states.npy psi.npy
npz states.npz psi
for file in states.npy states.npz states.csv; do
	tap_exit 0 "states from $file" "$QCNN" run --precision double --data $file --format csv state.qcnn
	tap_is "$(sed 1d out | awk -F, '{ printf "%.6f %.6f %.6f ", $(NF - 2), $(NF - 1), $NF }' | sed 's/-0\.000000/0.000000/g')" \
		"0.000000 0.000000 1.000000 0.000000 0.000000 -1.000000 1.000000 0.000000 0.000000 0.000000 1.000000 0.000000 " "$file: x, y and z of each"
done
# ---- CSV as programs write it: the same numbers by every one, in memory and window by window ----

cat >wild.qcnn <<'END'
qubit[2] q;
input float[2] x;
ry(each x) on q;
observe z(q[0]), z(q[1]);
END
cat >wild.yaml <<'END'
model: {file: learn.qcnn}
data: {train: wild.csv}
train: {epochs: 1, optimizer: {sgd: {learning_rate: 0}}}
run: {precision: double}
log: {report: false, tensorboard: false}
END
sed -e 's/^observe.*/param float w = 0;\nry(w) q[0];\nobserve z(q[0]);/' wild.qcnn >learn.qcnn
# wild NAME TEXT: printf's text as a file with labels 1 and -1.
wild() {
	printf "$2" >wild.csv
	for streaming in off on; do
		"$QCNN" train -q --fresh -o wild.bin --set data.streaming=$streaming wild.yaml 2>err
		tap_is "$("$QCNN" infer -q --split=train wild.bin | awk '/^[0-9]/ { printf "%.6f %d ", $2, $NF }')" \
			"$(awk 'BEGIN { printf "%.6f 1 %.6f -1 ", cos(0.1), cos(0.3) }')" "$1, streaming $streaming" || sed 's/^/# /' err
	done
}
wild commas 'a,b,label\n0.1,0.2,1\n0.3,0.4,-1\n'
wild semicolons 'a;b;label\n0.1;0.2;1\n0.3;0.4;-1\n'
wild tabs 'a\tb\tlabel\r\n0.1\t0.2\t1\r\n0.3\t0.4\t-1\r\n'
wild "a byte order mark, CRLF, blank lines, no newline at the end" '\357\273\277a,b,label\r\n\r\n0.1,0.2,1\r\n \r\n0.3,0.4,-1'
wild "quotes around separators and newlines" '"a,\n;""1""";"b";label\n"0.1";0.2;"1"\n0.3;" 0.4 ";-1\n'
# faulty NAME MESSAGE TEXT
faulty() {
	printf "$3" >wild.csv
	for streaming in off on; do
		tap_exit 65 "$1, streaming $streaming" "$QCNN" train -q --fresh --set data.streaming=$streaming wild.yaml
		tap_has err "$2" "is told"
	done
}
faulty "decimal commas" "numbers have a decimal point, not a comma" 'a;b;label\n0,1;0,2;1\n'
faulty "carriage returns alone" "lines end in a carriage return alone" 'a,b,label\r0.1,0.2,1\r'
faulty "UTF-16" "the text is UTF-16; save it as UTF-8" '\377\376a\000,\000b\000'
faulty "a word behind a quote" "expected a semicolon behind the closing quote" 'a;"b"x;label\n'

# ---- some classes of a file ----

# Ten rows of each of the labels 0 to 3, by three formats; x is 0.1 times the label.
labels=$(for i in 1 2 3 4 5 6 7 8 9 10; do printf '0 1 2 3 '; done)
{ echo x,label; for y in $labels; do echo "0.$y,$y"; done; } >four.csv
{ echo x,label; for y in $labels; do echo "0.$y,$(echo "$y" | tr 0123 abcd)"; done; } >named.csv
{ npy '|u1' "(40, 1)"; bytes $labels; } >x.npy
{ npy '|u1' "(40,)"; bytes $labels; } >y.npy
npz four.npz x y
{ bytes 0 0 8 2; be32 40; be32 1; bytes $labels; } >four-images-idx2-ubyte
{ bytes 0 0 8 1; be32 40; bytes $labels; } >four-labels-idx1-ubyte
cat >four.qcnn <<'END'
qubit q;
input float x;
param float t = 0.5;
ry(x) q;
rx(t) q;
observe probs(q);
END
cat >four.yaml <<'END'
model: {file: four.qcnn}
data: {label_map: {1: 0, 3: 1, '*': null}, split: {train: 0.6, test: 0.4}, split_stratify: true}
train: {epochs: 2, batch_size: 4, loss: categorical_crossentropy, metrics: [accuracy, confusion]}
log: {report: false, tensorboard: false}
END
for file in four.csv four.npz four-images-idx2-ubyte; do
	for streaming in off on; do
		tap_exit 0 "two classes of $file, streaming $streaming" \
			"$QCNN" train -q --fresh --set data.train=$file --set data.streaming=$streaming four.yaml
		tap_is "$(grep -o '"train": [0-9]*, "validation": [0-9]*, "test": [0-9]*' runs/latest/run.json)" \
			'"train": 12, "validation": 0, "test": 8' "no others"
		"$QCNN" infer latest >out
		tap_is "$(awk '/^[0-9]/ && NF > 4 { print $NF }' out | sort | uniq -c | tr -s ' \n' ' ')" ' 4 1 4 3 ' "half of each, by their names"
	done
done
tap_exit 0 "two classes with workers that read the file" "$QCNN" train -q --fresh --hosts local:2 --set cluster.shard=file \
	--set data.train=four.csv -o far.bin four.yaml
"$QCNN" train -q --fresh --set data.train=four.csv -o near.bin four.yaml
tap_ok "the same weights" cmp far.bin near.bin
tap_exit 0 "named classes" "$QCNN" train -q --fresh --set data.train=named.csv --set "data.label_map={b: 0, d: 1, '*': null}" -o named.bin four.yaml
tap_is "$("$QCNN" infer --json named.bin | grep -o '"metrics.*')" "$("$QCNN" infer --json near.bin | grep -o '"metrics.*')" "the same results"
tap_exit 0 "one class is left out" "$QCNN" train -q --fresh --set data.train=named.csv \
	--set "data.label_map={a: null, b: 0, c: 0, d: 1}" four.yaml
tap_is "$(grep -o '"train": [0-9]*' runs/latest/run.json | head -n 1)" '"train": 18' "and the others are there"
tap_exit 0 "one class against the rest" "$QCNN" train -q --fresh --set data.train=four.csv --set "data.label_map={3: 1, '*': 0}" four.yaml
tap_is "$("$QCNN" infer latest | awk '/^[0-9]/ && NF > 4 { print $NF }' | sort | uniq -c | tr -s ' \n' ' ')" ' 12 * 4 3 ' "all samples"
tap_exit 0 "another file" "$QCNN" infer --data four.csv near.bin
tap_is "$(awk '/^[0-9]/ && NF > 4 { print $1 }' out | head -n 3 | tr '\n' ' ')" '1 3 5 ' "has no samples of other classes either"
tap_exit 0 "a file for validation" "$QCNN" train -q --fresh --set data.train=four.csv --set data.validation=four.npz --set data.split=null four.yaml
tap_is "$(grep -o '"train": [0-9]*, "validation": [0-9]*' runs/latest/run.json)" '"train": 20, "validation": 20' "nor has that"
tap_exit 78 "no sample is left" "$QCNN" train -q --fresh --set data.train=four.csv --set "data.label_map={7: 1, '*': null}" four.yaml
tap_has err 'data.label_map: four.csv: data.label_map leaves out all 40 rows' "it says so"
tap_exit 65 "nor of a file for infer" sh -c 'grep -v ",[13]$" four.csv >none.csv && "$QCNN" infer --data none.csv near.bin'
tap_has err 'data.label_map leaves out all 20 rows' "it says so"
tap_exit 65 "labels that the map lacks" "$QCNN" train -q --fresh --set data.train=four-images-idx2-ubyte --set 'data.label_map={1: 0, 3: 1}' four.yaml
tap_has err "\`'*': null\` in it leaves out samples of other labels" "how to leave them out"

# ---- smaller pictures ----

# Six pictures of 4 x 4 pixels.
pixels=$(awk 'BEGIN { for (i = 0; i < 96; i++) printf "%d ", (i * 37 + i * i) % 251 }')
{ bytes 0 0 8 3; be32 6; be32 4; be32 4; bytes $pixels; } >small-images-idx3-ubyte
{ bytes 0 0 8 1; be32 6; bytes 0 1 0 1 0 1; } >small-labels-idx1-ubyte
cat >small.qcnn <<'END'
qubit q;
input float[4] x;
param float t = 0;
for int i in [0:3] { ry(x[i] * 10**i / 1e6) q; }
rz(t) q;
observe z(q);
END
cat >small.yaml <<'END'
model: {file: small.qcnn}
data: {train: small-images-idx3-ubyte, label_map: {0: -1, 1: 1}, transform: [{resize: {width: 2}}], split: {train: 4, test: 2}}
train: {epochs: 1}
run: {precision: double}
log: {report: false, tensorboard: false}
END
# Each new pixel is the mean of four, for bilinear interpolation, too.
echo $pixels | awk '{ for (s = 4; s < 6; s++) { a = 0
	for (i = 0; i < 4; i++) { o = 16 * s + 8 * int(i / 2) + 2 * (i % 2) + 1; a += ($o + $(o + 1) + $(o + 4) + $(o + 5)) / 4 * 10^i / 1e6 }
	printf "%.9f\n", cos(a) } }' >want
for how in "resize: {width: 2}" "resize: {width: 2, average: true}" "resize: {}"; do
	for streaming in off on; do
		tap_exit 0 "$how, streaming $streaming" "$QCNN" train -q --fresh --set "data.transform=[{$how}]" --set data.streaming=$streaming small.yaml
		"$QCNN" infer latest | awk '/^[0-9]/ && NF > 4 { printf "%.9f\n", $2 }' >got
		awk '{ printf "%.5f\n", $1 }' want >w5
		awk '{ printf "%.5f\n", $1 }' got >g5
		tap_same g5 w5 "means of four pixels"
	done
done
tap_exit 78 "another size than that of the input" "$QCNN" train -q --fresh --set 'data.transform=[{resize: {width: 3}}]' small.yaml
tap_has err "resize makes 9 numbers, the model's input takes 4" "it says so"
tap_exit 78 "larger pictures" "$QCNN" train -q --fresh --set 'data.transform=[{resize: {width: 8}}, {pca: {components: 4}}]' small.yaml
tap_has err "resize makes pictures smaller: 4 x 4 pixels cannot become 8 x 8" "are refused"
tap_exit 65 "no resize" "$QCNN" train -q --fresh --set 'data.transform=[]' small.yaml
tap_has err "data.transform: [resize] or [pca] makes fewer of them" "says what makes the numbers fit"

# ---- folds ----

awk 'BEGIN { print "x,label"; for (i = 0; i < 23; i++) print i / 100 "," (i % 3 == 0) }' >folds.csv
cat >folds.yaml <<'END'
model: {file: four.qcnn}
data: {train: folds.csv, split: {folds: 5, fold: 1}, split_shuffle: true}
train: {epochs: 1, batch_size: 4, loss: categorical_crossentropy, metrics: [accuracy]}
run: {seed: 3}
log: {report: false, tensorboard: false}
END
# rows FILE PART: the numbers of its rows, one on each line.
rows() {
	"$QCNN" weights show "$1" | sed -n 's/^# split: //p' | grep -o "\"$2\":{[^}]*" | sed 's/.*"rows":"\([^"]*\).*/\1/' | tr ',' '\n' |
		awk -F- '{ for (i = $1; i <= $NF; i++) print i }'
}
for stratify in false true; do
	rm -f validation
	for fold in 1 2 3 4 5; do
		tap_exit 0 "fold $fold, split_stratify: $stratify" "$QCNN" train -q --fresh --set data.split.fold=$fold \
			--set data.split_stratify=$stratify -o fold.bin folds.yaml
		rows fold.bin validation >part
		cat part >>validation
		rows fold.bin train | cat - part | sort -n >both
		seq 0 22 >all
		tap_same both all "training and validation are all samples"
		tap_is "$(wc -l <part | tr -d ' ')" "$([ $fold -le 3 ] && echo 5 || echo 4)" "a fifth for validation"
		[ $stratify = false ] || tap_is "$(awk '$1 % 3 == 0' part | wc -l | awk '{ print $1 == 1 || $1 == 2 }')" 1 "with its share of a class"
	done
	sort -n validation >both
	tap_same both all "each sample is in one fold"
done
tap_exit 78 "more folds than samples" "$QCNN" train -q --fresh --set 'data.split={folds: 24}' folds.yaml
tap_has err 'folds.csv: 24 folds need as many rows, there are 23' "it says so"
for bad in '{folds: 5, fold: 6}' '{folds: 1}' '{folds: 101}' '{folds: 2.5}' '{fold: 1}' '{folds: 3, train: 0.5}'; do
	tap_exit 78 "$bad" "$QCNN" train -q --fresh --set "data.split=$bad" folds.yaml
done
tap_exit 78 "folds and a file for validation" "$QCNN" train -q --fresh --set data.validation=folds.csv folds.yaml
tap_exit 78 "folds as a key" "$QCNN" train -q --fresh --set data.folds=7 folds.yaml
tap_has err 'write `data.split: {folds: 7, fold: 1}`' "says where they are given"
tap_exit 78 "the file under another key" "$QCNN" train -q --fresh --set data.file=folds.csv folds.yaml
tap_has err 'the file of samples is `data.train`' "says which"
tap_done
