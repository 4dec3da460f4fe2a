/* SPDX-License-Identifier: Apache-2.0
 * Data sets from arrays, the generators, splits. */
#include "runtime/data/dataset.h"

#include "runtime/base/maths.h"
#include "runtime/base/rng.h"
#include "runtime/data/format/dataset_read.h"
#include "runtime/data/format/npz.h"
#include "runtime/data/generate/generate.h"
#include "tests/tap.h"

static double x_value[] = { 1, 2, 3, 4, 5, 6 }, y_value[] = { 0, 1, 0 };

static const struct input_want x2 = { .name = "x", .count = 2, .ndim = 1, .dim = { 2 } };
static const struct input_want x22[] = {
	{ .name = "a", .count = 1, .ndim = 1, .dim = { 1 } },
	{ .name = "b", .count = 1, .ndim = 1, .dim = { 1 } },
};
static const struct input_want state = { .name = "psi", .is_state = true, .count = 4, .ndim = 1,
	.dim = { 2 } };

static struct dataset *read_npz(struct npz_member *m, unsigned n, const struct read_options *o,
	struct err *e)
{
	struct dataset *d = NULL;
	struct npz z = { n, m };

	e->text[0] = '\0';
	if (npz_write("d.npz", &z, e))
		tap_bail("cannot write d.npz: %s", e->text);
	return dataset_read("d.npz", o, NULL, &d, e) ? NULL : d;
}

static void arrays(void)
{
	struct npz_member m[] = {
		{ "x", { 2, { 3, 2 }, false, 6, x_value } }, { "y", { 1, { 3 }, false, 3, y_value } },
		{ "psi", { 2, { 1, 2 }, true, 2, x_value } }, { "a", { 1, { 3 }, false, 3, x_value } },
	};
	static const double from[] = { 0, 1 }, to[] = { -1, 1 };
	struct read_options o = { .want = &x2, .nwant = 1, .label_required = true, .label_map = { from, to, 2, NULL } };
	struct err e;
	struct dataset *d = read_npz(m, 2, &o, &e);

	tap_ok(d && d->nrow == 3 && d->nx == 2 && d->ny == 1 && d->x[5] == 6 && d->y[0] == -1, "x and y");
	dataset_free(d);
	o = (struct read_options){ .want = x22, .nwant = 2 };
	d = read_npz(m, 1, &o, &e);
	tap_ok(d && d->nx == 2 && d->ny == 0 && !d->y && d->x[1] == 2, "two inputs out of the columns of x");
	dataset_free(d);
	d = read_npz(m, 4, &o, &e);
	tap_is_str(e.text, "d.npz: array \"x\" has shape (3, 2), but the model's inputs take 1 numbers in each row",
		"columns that nobody takes");
	dataset_free(d);
	o = (struct read_options){ .want = &state, .nwant = 1 };
	d = read_npz(m + 2, 1, &o, &e);
	tap_ok(d && d->nrow == 1 && d->nx == 4 && d->x[1] == 2 && d->x[3] == 4, "complex amplitudes");
	dataset_free(d);
	m[0].name = "psi";
	d = read_npz(m, 1, &o, &e);
	tap_ok(d && d->nrow == 3 && d->x[0] == 1 && d->x[1] == 0 && d->x[2] == 2, "real amplitudes");
	dataset_free(d);
}

static void weights(void)
{
	double often[] = { 1, 0, 2.5 };
	struct npz_member m[] = {
		{ "x", { 2, { 3, 2 }, false, 6, x_value } }, { "y", { 1, { 3 }, false, 3, y_value } },
		{ "often", { 1, { 3 }, false, 3, often } },
	};
	struct read_options o = { .want = &x2, .nwant = 1, .label_required = true, .weight = "often" };
	struct err e;
	struct dataset *d = read_npz(m, 3, &o, &e);

	tap_ok(d && d->weight && d->weight[1] == 0 && d->weight[2] == 2.5, "weights of the samples");
	dataset_free(d);
	often[1] = -1;
	tap_ok(!read_npz(m, 3, &o, &e), "a negative weight is refused");
	tap_is_str(e.text, "d.npz: array \"often\", row 1: the weight -1 is negative", "a negative one");
	m[2].array = (struct array){ 2, { 3, 2 }, false, 6, x_value };
	tap_ok(!read_npz(m, 3, &o, &e), "two weights for each row are refused");
	tap_is_str(e.text, "d.npz: array \"often\" is to hold one weight for each row", "two for each row");
	tap_ok(!read_npz(m, 2, &o, &e), "weights that are not there");
	o.label_required = false;
	d = read_npz(m, 2, &o, &e);
	tap_ok(d && !d->weight, "may be left out where labels may");
	dataset_free(d);
}

static void refused(void)
{
	double bad_value[] = { 1, 2, 3, NAN, 5, 6 };
	struct npz_member m[] = {
		{ "x", { 2, { 3, 2 }, false, 6, x_value } }, { "y", { 1, { 2 }, false, 2, y_value } },
		{ "x", { 2, { 3, 2 }, false, 6, bad_value } }, { "x", { 2, { 2, 3 }, false, 6, x_value } },
		{ "x", { 2, { 0, 2 }, false, 0, NULL } }, { "x", { 0, { 0 }, false, 1, x_value } },
		{ "x", { 2, { 3, 2 }, true, 6, (double[12]){ 0 } } },
	};
	static const char *const key[] = { "k" }, *const keys[] = { "x", "y" };
	static const double from[] = { 1 }, to[] = { 2 };
	const struct input_map map = { "x", key, 1 }, list = { "x", keys, 2 };
	const struct read_options plain = { .want = &x2, .nwant = 1 },
		labelled = { .want = &x2, .nwant = 1, .label_required = true },
		named = { .want = &x2, .nwant = 1, .label = "l", .label_required = true },
		listed = { .want = &x2, .nwant = 1, .map = &list, .nmap = 1 },
		mapped = { .want = &x2, .nwant = 1, .map = &map, .nmap = 1 },
		relabelled = { .want = &x2, .nwant = 1, .label = "x", .label_map = { from, to, 1, NULL } };
	const struct {
		struct npz_member *m;
		unsigned n;
		const struct read_options *o;
		const char *want;
	} row[] = {
		{ m, 2, &plain, "d.npz: array \"y\" has 2 rows, the others have 3" },
		{ m + 2, 1, &plain, "d.npz: array \"x\", row 1, column 1 (from 0) is not finite" },
		{ m + 3, 1, &plain,
			"d.npz: array \"x\" has shape (2, 3), but the model's input `x` takes 2 numbers "
			"in each row" },
		{ m + 4, 1, &plain, "d.npz: array \"x\" has no rows" },
		{ m + 5, 1, &plain, "d.npz: array \"x\" has no rows" },
		{ m + 6, 1, &plain,
			"d.npz: array \"x\" has shape (3, 2) (complex), but the model's input `x` takes "
			"2 numbers in each row" },
		{ m, 1, &labelled, "d.npz: no array \"y\" for the label; it has \"x\"" },
		{ m, 1, &named, "d.npz: no array \"l\" for the label; it has \"x\"" },
		{ m, 1, &mapped, "d.npz: no array \"k\" for x; it has \"x\"" },
		{ m, 2, &listed,
			"d.npz: data.inputs names 2 columns for input `x`, but an array has none; give the name of one "
			"array that holds all its numbers" },
		{ m, 0, &plain, "d.npz: no array \"x\" for x; it has none" },
		{ m, 1, &relabelled,
			"d.npz: array \"x\", row 0: label 2 is not in `label_map`; `'*': null` in it leaves out samples of other labels" },
	};
	struct err e;

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct dataset *d = read_npz(row[i].m, row[i].n, row[i].o, &e);

		tap_ok(!d && e.code == -ERR_BAD_DATA, "refused: %s", row[i].want);
		tap_is_str(e.text, row[i].want, "with its reason");
		dataset_free(d);
	}
}

static void npy(void)
{
	struct array a = { 2, { 3, 2 }, false, 6, x_value };
	struct read_options o = { .want = &x2, .nwant = 1 };
	struct buf b = BUF_INIT;
	struct dataset *d = NULL;
	struct err e;

	npy_format(&a, &b);
	buf_write_file(&b, "d.npy", 0, &e);
	tap_ok(!dataset_read("d.npy", &o, NULL, &d, &e) && d->nrow == 3 && d->x[3] == 4, "an .npy file");
	dataset_free(d);
	o = (struct read_options){ .want = x22, .nwant = 2 };
	tap_is_int(dataset_read("d.npy", &o, NULL, &d, &e), -ERR_BAD_DATA, "feeds only one input");
	o = (struct read_options){ .want = &x2, .nwant = 1, .label_required = true };
	tap_is_int(dataset_read("d.npy", &o, NULL, &d, &e), -ERR_BAD_DATA, "and has no labels");
	buf_release(&b);
}

static void generated(void)
{
	struct generate_options o = { "cluster-excitation", 7, 20, 8, NULL };
	struct dataset *d = NULL, *again = NULL;
	unsigned plus = 0;
	bool good = true;
	struct err e;

	if (!tap_ok(!dataset_generate(&o, &d, &e) && !dataset_generate(&o, &again, &e) && d->nrow == 160
			&& d->nx == 8 && d->ny == 1, "20 rounds of 8 qubits"))
		return;
	for (uint32_t i = 0; i < 160; i++) {
		for (uint32_t j = 0; j < 8; j++)
			good &= (d->x[8 * i + j] != 0) == (j == i % 8) && fabs(d->x[8 * i + j]) <= PI;
		good &= d->y[i] == (fabs(d->x[8 * i + i % 8]) <= PI / 2 ? 1 : -1);
		plus += d->y[i] > 0;
	}
	tap_ok(good, "one angle a row, labelled by its size");
	tap_close(plus, 80, 32, "about half are excited");
	tap_ok(!memcmp(d->x, again->x, 160 * 8 * sizeof *d->x) && !memcmp(d->digest, again->digest, 32),
		"the seed decides all");
	dataset_free(again);
	o.seed = 8;
	tap_ok(!dataset_generate(&o, &again, &e) && memcmp(d->digest, again->digest, 32), "another seed, other data");
	dataset_free(again);
	dataset_free(d);
	tap_ok(!dataset_generate(&(struct generate_options){ "no-input", 7, 20, 0, NULL }, &d, &e)
			&& d->nrow == 1 && d->nx == 0 && d->ny == 1 && d->y[0] == 0,
		"one sample without inputs");
	dataset_free(d);
	o.rounds = 0;
	tap_is_int(dataset_generate(&o, &d, &e), -ERR_CONFIG, "no rounds");
	o.rounds = DATASET_ROWS_MAX / 8 + 1;
	tap_is_int(dataset_generate(&o, &d, &e), -ERR_BAD_DATA, "rows beyond the limit");
	o.name = "cluster-exitation";
	tap_is_int(dataset_generate(&o, &d, &e), -ERR_CONFIG, "an unknown name");
	tap_is_str(e.text, "no generator `cluster-exitation`; did you mean `cluster-excitation`?",
		"suggests");
}

static void splits(void)
{
	static const double train[] = { 0.7, 0.3 }, three[] = { 0.5, 0.25, 0.25 }, over[] = { 0.8, 0.3 },
		negative[] = { -0.1, 0.5 }, nan[] = { NAN, 0.5 };
	uint32_t order[160], other[160], count[3];
	bool file_order = true, seen[160] = { false };
	struct err e;

	tap_ok(!split_rows(160, train, 2, false, 0, order, count, &e) && count[0] == 112 && count[1] == 48,
		"0.7 of 160 rows are 112");
	for (uint32_t i = 0; i < 160; i++)
		file_order &= order[i] == i;
	tap_ok(file_order, "in file order");
	tap_ok(!split_rows(7, three, 3, true, 1, order, count, &e) && count[0] == 3 && count[1] == 1
		&& count[2] == 3, "the last part takes the rest");
	tap_ok(!split_rows(160, train, 2, true, 1, order, count, &e)
		&& !split_rows(160, train, 2, true, 2, other, count, &e) && memcmp(order, other, sizeof order),
		"shuffled by the seed");
	for (uint32_t i = 0; i < 160; i++)
		seen[order[i]] = true;
	tap_ok(!memchr(seen, 0, sizeof seen), "every row once");
	tap_is_int(split_rows(10, over, 2, false, 0, order, count, &e), -ERR_CONFIG, "more than all");
	tap_is_int(split_rows(10, negative, 2, false, 0, order, count, &e), -ERR_CONFIG, "less than nothing");
	tap_is_int(split_rows(10, nan, 2, false, 0, order, count, &e), -ERR_CONFIG, "not a number");
	tap_is_int(split_rows(10, train, 0, false, 0, order, count, &e), -ERR_CONFIG, "no part");
	tap_ok(!split_rows(0, train, 2, true, 0, order, count, &e) && !count[0] && !count[1], "no rows");
}

/* Against whole numbers: the part of `nrow` rows that numerator / 10^digits is. */
static void split_counts(void)
{
	static const uint64_t nrow[] = { 1, 3, 7, 10, 160, 1000, 42000010, 99999999, UINT32_MAX, UINT64_C(1) << 52, (UINT64_C(1) << 53) - 1,
		UINT64_C(1) << 53 };
	unsigned wrong = 0;

	for (size_t i = 0; i < sizeof nrow / sizeof *nrow; i++)
		for (uint64_t p = 0; p <= 1000; p++) {
			uint64_t n = nrow[i], want = n / 1000 * p + n % 1000 * p / 1000, got = split_count((double)p / 1000, n);

			if (got != want && !wrong++)
				tap_note("0.%03d of %llu rows: %llu, expected %llu", (int)p, (unsigned long long)n, (unsigned long long)got,
					(unsigned long long)want);
		}
	tap_is_int(wrong, 0, "thousandths of up to 2^53 rows are counted exactly");
	tap_ok(split_count(0.333333333333, 3) == 1 && split_count(0.33333333, 3) == 0, "a fraction within 1e-9 of a whole row");
	tap_ok(split_count(1e-300, UINT64_C(1) << 53) == 0 && split_count(5e-324, 10) == 0 && split_count(1, 7) == 7 && split_count(1 - 0x1p-53, 7) == 7,
		"the smallest and largest fractions");
}

/* The same samples as CSV and as arrays, written by others. */
static void reference_files(void)
{
	static const struct { const char *name, *csv_label, *npz_label; uint32_t nx, nrow; } row[] = {
		{ "data/digits01", "digit", "y", 64, 360 }, { "tfq/cluster_data", "label", "label", 8, 160 },
	};
	const char *shared = getenv("QCNN_SHARED");
	char path[4096];

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct input_want w = { .name = "x", .count = row[i].nx, .ndim = 1, .dim = { row[i].nx } };
		struct read_options o = { .want = &w, .nwant = 1, .label = row[i].csv_label };
		struct source_set *s = source_set_new();
		struct diags *g = diags_new(s);
		struct dataset *csv = NULL, *npz = NULL;
		struct err e = { 0, "" };

		if (!shared) {
			tap_skip("no reference values here (QCNN_SHARED)");
		} else {
			snprintf(path, sizeof path, "%s/reference/%s.csv", shared, row[i].name);
			dataset_read(path, &o, g, &csv, &e);
			snprintf(path, sizeof path, "%s/reference/%s.npz", shared, row[i].name);
			o.label = row[i].npz_label;
			dataset_read(path, &o, g, &npz, &e);
			tap_ok(csv && npz && csv->nrow == row[i].nrow && npz->nrow == row[i].nrow
				&& !memcmp(csv->x, npz->x, (size_t)csv->nrow * csv->nx * sizeof *csv->x)
				&& !memcmp(csv->y, npz->y, csv->nrow * sizeof *csv->y), "%s %s", row[i].name, e.text);
		}
		dataset_free(csv);
		dataset_free(npz);
		diags_free(g);
		source_set_free(s);
	}
}

/* Every label and every place of a line turn up, and nothing else. */
static void stripes(void)
{
	struct generate_options o = { "stripes", 1, 400, 8, NULL };
	struct dataset *d;
	unsigned lying = 0, upright = 0, places = 0;
	bool good = true;
	struct err e;

	if (!tap_ok(!dataset_generate(&o, &d, &e) && d->nrow == 400 && d->nx == 8, "stripes"))
		return;
	for (uint32_t i = 0; i < d->nrow; i++) {
		unsigned line = 0;

		for (unsigned j = 0; j < 8; j++) {
			line |= d->x[8 * i + j] == PI / 2 ? 1u << j : 0;
			good &= d->x[8 * i + j] == PI / 2 || (d->x[8 * i + j] >= 0 && d->x[8 * i + j] < PI / 4);
		}
		for (unsigned j = 0; j < 7; j++) {
			good &= d->y[i] == 1 || d->y[i] == -1;
			if (line == 3u << j && j != 3 && d->y[i] == -1)
				lying++, places |= 1u << j;
			if (line == 17u << j && j < 4 && d->y[i] == 1)
				upright++, places |= 256u << j;
		}
	}
	tap_ok(good && lying + upright == 400 && lying > 150 && upright > 150, "labels and noise");
	tap_is_int(places, 0xf77, "every place");
	dataset_free(d);
	o.nqubit = 7;
	dataset_generate(&o, &d, &e);
	tap_is_str(e.text, "stripes makes pictures of two rows: an even number of pixels, at least 4, not 7", "refused");
}

static void numbers(void)
{
	static const uint32_t some[] = { 3, SPLIT_REST, 2 }, over[] = { 6, 5 };
	/* Labels 0 x 6, 1 x 3, 2 x 1; halves have to share the odd ones. */
	double label[] = { 0, 0, 0, 0, 0, 0, 1, 1, 1, 2 };
	const struct dataset d = { .nrow = 10, .ny = 1, .y = label };
	static const uint32_t half[] = { 5, 5 }, want[] = { 0, 1, 2, 6, 7, 3, 4, 5, 8, 9 };
	uint32_t order[10], count[3];
	struct err e = { 0 };

	tap_ok(!split_numbers(10, some, 3, false, 0, order, count, &e) && count[0] == 3 && count[1] == 5 && count[2] == 2,
		"a split by numbers, and the rest");
	split_numbers(10, over, 2, false, 0, order, count, &e);
	tap_is_str(e.text, "the split asks for 11 rows, there are 10", "too many");
	split_numbers(10, half, 2, false, 0, order, count, &e);
	tap_ok(!split_stratify(&d, d.nrow, half, 2, order, &e) && !memcmp(order, want, sizeof want),
		"every label has its share");
}

enum { STRATA_ROWS = 60 };

/* Rows of a class in a part are its share of those that the parts before have left, up to less than one row. */
static bool shares_are_even(const double *label, const uint32_t *order, const uint32_t *count, unsigned npart)
{
	bool even = true;

	for (double class = 0; class < 7; class++) {
		uint32_t left = STRATA_ROWS, of_class = 0, at = 0;

		for (uint32_t i = 0; i < STRATA_ROWS; i++)
			of_class += label[i] == class;
		for (unsigned k = 0; k < npart && left; at += count[k], left -= count[k++]) {
			uint32_t here = 0;

			for (uint32_t i = at; i < at + count[k]; i++)
				here += label[order[i]] == class;
			even &= fabs(here - (double)count[k] * of_class / left) < 1;
			of_class -= here;
		}
	}
	return even;
}

/* Random labels, some of them rare or of one sample alone, and parts of any size, none too. */
static void strata(void)
{
	static const uint32_t size[][4] = { { 30, 20, 10 }, { 0, 59, 1 }, { 1, 1, 1, 57 }, { 60 }, { 7, 0, 11, 3 }, { 0, 0, 60 } };
	double label[STRATA_ROWS], one_hot[STRATA_ROWS * 7], many[SPLIT_CLASSES_MAX + 1];
	struct dataset d = { .nrow = STRATA_ROWS, .ny = 1, .y = label };
	uint32_t order[SPLIT_CLASSES_MAX + 1], same[STRATA_ROWS], count[4], seen;
	bool even = true, all = true, hot = true;
	struct err e = { 0 };

	for (uint64_t seed = 0; seed < 200; seed++)
		for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
			for (uint32_t i = 0; i < STRATA_ROWS; i++) {
				label[i] = floor(7 * pow(rng_uniform(seed, RNG_TEST, 3, i), 1 + seed % 5));
				for (uint32_t j = 0; j < 7; j++)
					one_hot[i * 7 + j] = label[i] == j;
			}
			d.ny = 1;
			d.y = label;
			split_numbers(STRATA_ROWS, size[s], 4, true, seed, order, count, &e);
			memcpy(same, order, sizeof same);
			even &= !split_stratify(&d, d.nrow, count, 4, order, &e)
				&& shares_are_even(label, order, count, 4);
			d.ny = 7;
			d.y = one_hot;
			hot &= !split_stratify(&d, d.nrow, count, 4, same, &e)
				&& !memcmp(same, order, sizeof same);
			seen = 0;
			for (uint32_t i = 0; i < STRATA_ROWS; i++)
				for (uint32_t k = 0; k < STRATA_ROWS; k++)
					seen += order[k] == i;
			all &= seen == STRATA_ROWS;
		}
	tap_ok(even, "parts have their shares of all labels");
	tap_ok(all, "every row is in one place");
	tap_ok(hot, "several labels a row count as the largest");
	for (uint32_t i = 0; i <= SPLIT_CLASSES_MAX; i++)
		order[i] = i, many[i] = i;
	d = (struct dataset){ .nrow = SPLIT_CLASSES_MAX, .ny = 1, .y = many };
	tap_is_int(split_stratify(&d, d.nrow, (uint32_t[]){ 1000, 24 }, 2, order, &e), 0,
		"as many labels as are allowed");
	d.nrow++;
	tap_is_int(split_stratify(&d, d.nrow, (uint32_t[]){ 1000, 25 }, 2, order, &e), -ERR_CONFIG,
		"one more");
	d.nrow = 0;
	tap_is_int(split_stratify(&d, d.nrow, (uint32_t[]){ 0, 0 }, 2, order, &e), 0, "no rows");
}

int main(void)
{
	arrays();
	weights();
	refused();
	npy();
	generated();
	splits();
	split_counts();
	reference_files();
	stripes();
	numbers();
	strata();
	return tap_done();
}
