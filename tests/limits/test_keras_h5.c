/* SPDX-License-Identifier: Apache-2.0
 * Keras's .h5 files: round trip, the order of symbols, and damage anywhere in a file: an
 * error or numbers, never a crash. */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/buf.h"
#include "runtime/train/keras/keras.h"
#include "runtime/train/keras/keras_h5.h"
#include "tests/tap.h"

static int by_text(const void *x, const void *y)
{
	char a[16], b[16];

	snprintf(a, sizeof a, "%u", *(const uint32_t *)x);
	snprintf(b, sizeof b, "%u", *(const uint32_t *)y);
	return strcmp(a, b);
}

static void test_order(uint32_t n)
{
	uint32_t *sorted = mem_alloc(n, sizeof *sorted), symbol = 0;
	bool same = true;

	for (uint32_t i = 0; i < n; i++)
		sorted[i] = i;
	qsort(sorted, n, sizeof *sorted, by_text);
	for (uint32_t i = 0; i < n; i++, symbol = keras_next_symbol(symbol, n))
		same = same && sorted[i] == symbol;
	tap_ok(same, "%u symbols in the order of their names", n);
	free(sorted);
}

static bool same_arrays(const struct keras_arrays *got, const struct keras_array *want, uint32_t n)
{
	bool same = got->n == n;

	for (uint32_t i = 0; same && i < n; i++) {
		const struct keras_array *a = &got->array[i], *b = &want[i];

		same = !strcmp(a->layer, b->layer) && !strcmp(a->name, b->name) && a->ndim == b->ndim
			&& !memcmp(a->dim, b->dim, a->ndim * sizeof *a->dim) && a->count == b->count
			&& !memcmp(a->value, b->value, a->count * sizeof *a->value);
	}
	return same;
}

static bool same_files(const char *a, const char *b)
{
	struct buf x = BUF_INIT, y = BUF_INIT;
	bool same = !buf_read_file(&x, a, KERAS_BYTES_MAX, NULL) && !buf_read_file(&y, b, KERAS_BYTES_MAX, NULL)
		&& x.len == y.len && !memcmp(x.data, y.data, x.len);

	buf_release(&x);
	buf_release(&y);
	return same;
}

enum { STRIDE = 151 };

static unsigned changed_files(const struct buf *file, unsigned step, int flip, unsigned *nread, unsigned *nrefused)
{
	unsigned wrong = 0;

	for (size_t at = 0; at < file->len; at += step) {
		struct buf copy = BUF_INIT;
		struct keras_arrays a;
		struct err e = { 0 };
		int code;

		buf_add(&copy, file->data, flip ? file->len : at);
		if (flip)
			copy.data[at] ^= (char)flip;
		buf_write_file(&copy, "changed.h5", 0, NULL);
		code = keras_h5_read("changed.h5", 12, &a, &e);
		if (code == 0) {
			keras_arrays_release(&a);
			++*nread;
		} else if (code == -ERR_BAD_DATA && strstr(e.text, "changed.h5: ")) {
			++*nrefused;
		} else {
			tap_note("byte %zu: code %d, %s", at, code, e.text);
			wrong++;
		}
		buf_release(&copy);
	}
	return wrong;
}

static void test_damage(void)
{
	struct buf file = BUF_INIT;
	unsigned step = getenv("QCNN_SANITIZED") ? 10 * STRIDE : STRIDE, wrong, nread = 0, nrefused = 0;

	buf_read_file(&file, "w.h5", KERAS_BYTES_MAX, NULL);
	wrong = changed_files(&file, step, 0, &nread, &nrefused);
	tap_ok(!wrong && !nread && nrefused, "a file that is cut off is refused");
	nread = nrefused = 0;
	wrong = changed_files(&file, step, 0xff, &nread, &nrefused) + changed_files(&file, step, 1, &nread, &nrefused);
	tap_ok(!wrong && nread && nrefused, "a changed byte: %u files refused, %u read", nrefused, nread);
	buf_release(&file);
}

static void test_refusals(const struct keras_array *array)
{
	struct keras_arrays a;
	struct err e;
	struct buf empty = BUF_INIT;

	tap_is_int(keras_h5_read("none.h5", 12, &a, &e), -ERR_NO_INPUT, "a missing file");
	buf_write_file(&empty, "empty.h5", 0, NULL);
	tap_is_int(keras_h5_read("empty.h5", 12, &a, &e), -ERR_BAD_DATA, "an empty file: %s", e.text);
	tap_is_int(keras_h5_write("no/folder/w.h5", array, 1, &e), -ERR_CANT_CREATE, "no folder to write to");
	tap_is_int(keras_h5_write("w2.h5", array, KERAS_ARRAYS_MAX + 1, &e), -ERR_BAD_DATA, "too many arrays: %s", e.text);
}

/* ---- small files that expand ---- */

/* The shape (2, 3) becomes (2, 2000000). */
static void test_claim(void)
{
	static const uint64_t shape[] = { 2, 3 };
	struct buf file = BUF_INIT;
	struct keras_arrays a;
	struct err e = { 0 };
	uint64_t more = 2000000;
	char *at;

	buf_read_file(&file, "w.h5", KERAS_BYTES_MAX, NULL);
	at = memmem(file.data, file.len, shape, sizeof shape);
	if (!at)
		tap_bail("the file has no shape (2, 3)");
	memcpy(at + 8, &more, sizeof more);
	buf_write_file(&file, "claim.h5", 0, NULL);
	tap_is_int(keras_h5_read("claim.h5", 12, &a, &e), -ERR_BAD_DATA, "more numbers than a file of its size needs: %s", e.text);
	/* HDF5 1.14 refuses the array itself. */
	tap_ok(strstr(e.text, "more numbers than")
			|| strstr(e.text, "HDF5 cannot open dense/kernel:0"),
		"it is refused before memory is taken");
	buf_release(&file);
}

#if QCNN_HDF5

/* Zeros of the shape (2, n) in a compressed chunk of `columns` columns, in the place of dense/kernel:0. The library is loaded as the
 * program does. */
static bool write_chunk(const char *path, uint64_t n, uint64_t columns)
{
	typedef int64_t id;
	void *h = dlopen(QCNN_HDF5_LIBRARY, RTLD_NOW);
	int (*opened)(void), (*set_chunk)(id, int, const uint64_t *), (*deflate)(id, unsigned), (*drop)(id, const char *, id), (*shut)(id), (*close_data)(id);
	int (*put)(id, id, id, id, id, const void *);
	id (*open_file)(const char *, unsigned, id), (*create)(id), (*simple)(int, const uint64_t *, const uint64_t *), *class, *real;
	id (*make)(id, const char *, id, id, id, id, id), file, list, space, data;
	const uint64_t dim[] = { 2, n }, most[] = { 2, UINT64_MAX }, chunk[] = { 2, columns };
	mem_auto double *zero = mem_alloc(2 * n, sizeof *zero);

#define TAKE(to, name) do { void *p = h ? dlsym(h, name) : NULL; if (!p) return false; memcpy(&to, &p, sizeof p); } while (0)
	TAKE(opened, "H5open");
	TAKE(set_chunk, "H5Pset_chunk");
	TAKE(deflate, "H5Pset_deflate");
	TAKE(drop, "H5Ldelete");
	TAKE(shut, "H5Fclose");
	TAKE(close_data, "H5Dclose");
	TAKE(put, "H5Dwrite");
	TAKE(open_file, "H5Fopen");
	TAKE(create, "H5Pcreate");
	TAKE(simple, "H5Screate_simple");
	TAKE(make, "H5Dcreate2");
	opened();
	TAKE(class, "H5P_CLS_DATASET_CREATE_ID_g");
	TAKE(real, "H5T_NATIVE_DOUBLE_g");
	file = open_file(path, 1, 0);        /* 1: H5F_ACC_RDWR */
	list = create(*class);
	set_chunk(list, 2, chunk);
	if (deflate(list, 1) < 0)
		return false;
	space = simple(2, dim, most);
	drop(file, "dense/dense/kernel:0", 0);
	data = make(file, "dense/dense/kernel:0", *real, space, 0, list, 0);
	if (data < 0 || put(data, *real, 0, 0, 0, zero) < 0)
		return false;
	return close_data(data) >= 0 && shut(file) >= 0;
}

/* Pages of addresses that the process has. */
static long pages(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long n = 0;

	if (!f || fscanf(f, "%ld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* The last place where 64 bytes of zlib's fastest level may begin, or NULL: tables of the file lie before. */
static char *compressed_chunk(const struct buf *image)
{
	for (size_t at = image->len; at-- > 0;)
		if (image->len - at >= 66 && !memcmp(image->data + at, "\x78\x01", 2))
			return image->data + at;
	return NULL;
}

enum { DAMAGED_COLUMNS = 1 << 17, DAMAGED_TIMES = 20 };

/* In a process of its own, as the program reads (names are given back by its end): 0 where all readings are refused, and those after
 * the first leave less than half of their numbers behind. */
static int read_damaged(const struct buf *image)
{
	struct err e = { 0 };
	unsigned nrefused = 0;
	long before = 0;

	for (unsigned k = 0; k < DAMAGED_TIMES; k++) {
		struct buf out = BUF_INIT;
		uint32_t n;

		nrefused += keras_h5_read_image(image, KERAS_NUMBERS_MAX, &out, &n, &e)
			== -ERR_BAD_DATA;
		buf_release(&out);
		if (!k)
			before = pages();
	}
	if (nrefused != DAMAGED_TIMES || !strstr(e.text, "its numbers cannot be read"))
		return 1;
	return !getenv("QCNN_SANITIZED")
			&& (pages() - before) * sysconf(_SC_PAGESIZE)
				>= DAMAGED_TIMES / 2 * DAMAGED_COLUMNS * 16L
		? 2
		: 0;
}

/* Numbers that cannot be decompressed. */
static void test_damaged_numbers(const struct keras_array *array)
{
	struct buf image = BUF_INIT;
	struct err e = { 0 };
	int status = -1;
	pid_t child;
	char *at;

	keras_h5_write("damaged.h5", array, 3, &e);
	if (!write_chunk("damaged.h5", DAMAGED_COLUMNS, DAMAGED_COLUMNS)
		|| buf_read_file(&image, "damaged.h5", KERAS_BYTES_MAX, &e)
		|| !(at = compressed_chunk(&image)) || keras_h5_load(&e)) {
		tap_skip("this HDF5 library compresses nothing");
		buf_release(&image);
		return;
	}
	memset(at + 2, 0xff, 64);
	child = fork();
	if (child == 0)
		_exit(read_damaged(&image));
	tap_ok(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
			&& (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2),
		"damaged numbers are refused");
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "and leave no memory behind");
	buf_release(&image);
}

static void test_bomb(const struct keras_array *array)
{
	struct keras_arrays a;
	struct err e = { 0 };

	if (getenv("QCNN_SANITIZED")) {
		tap_skip("a program under the sanitizers has no limit on addresses");
		return;
	}
	keras_h5_write("bomb.h5", array, 3, &e);
	if (!write_chunk("bomb.h5", 3, 20 << 20)) {
		tap_skip("this HDF5 library compresses nothing");
		return;
	}
	tap_is_int(keras_h5_read("bomb.h5", 12, &a, &e), -ERR_BAD_DATA, "a small file that expands: %s", e.text);
}

#else

static void test_damaged_numbers(const struct keras_array *array) { (void)array; }

static void test_bomb(const struct keras_array *array)
{
	(void)array;
}

#endif

int main(void)
{
	const double x[] = { 1, 0.1, -2.5e-300, 4, 5, 6 };
	const struct keras_array array[] = {
		{ "pqc", "parameters:0", 1, { 3 }, 3, x },
		{ "dense", "dense/kernel:0", 2, { 2, 3 }, 6, x },
		{ "dense", "dense/bias:0", 1, { 3 }, 3, x + 2 },
	};
	struct keras_arrays got;
	struct err e = { 0 };

	test_order(1);
	test_order(10);
	test_order(63);
	test_order(1234);
	if (keras_h5_write("w.h5", array, 3, &e)) {
		if (strstr(e.text, "built without HDF5")) {
			printf("ok %d # SKIP built without HDF5\n", ++tap_count);
			return tap_done();
		}
		tap_bail("%s", e.text);
	}
	tap_is_int(keras_h5_read("w.h5", 12, &got, &e), 0, "a file is read again: %s", e.text);
	tap_ok(same_arrays(&got, array, 3), "its layers, names, shapes and numbers are the same");
	keras_arrays_release(&got);
	sleep(1);
	keras_h5_write("later.h5", array, 3, &e);
	tap_ok(same_files("w.h5", "later.h5"), "the same weights give the same file at any time");
	test_refusals(array);
	test_claim();
	test_bomb(array);
	test_damage();
	test_damaged_numbers(array);
	return tap_done();
}
