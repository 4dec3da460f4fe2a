/* SPDX-License-Identifier: Apache-2.0
 * The answer of the process that reads a Keras file: one that is cut, too long or makes no sense is an error, never arrays.
 * The HDF5 library is replaced here by a reader that answers what the test wants. */
#include "runtime/train/keras/keras_h5.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "tests/tap.h"

static struct { uint32_t narray; size_t len; int code; bool crash; struct buf body; } answer;

int keras_h5_load(struct err *e)
{
	(void)e;
	return 0;
}

int keras_h5_read_image(const struct buf *image, uint64_t numbers, struct buf *out, uint32_t *narray, struct err *e)
{
	(void)image;
	(void)numbers;
	if (answer.crash)
		kill(getpid(), SIGKILL);
	if (answer.code)
		return err_set(e, answer.code, "what the library says");
	*narray = answer.narray;
	buf_add(out, answer.body.data, answer.len);
	return 0;
}

static void put_text(struct buf *b, const char *text)
{
	buf_u32(b, (uint32_t)strlen(text));
	buf_str(b, text);
}

/* Two arrays: a matrix of 2 x 3 and one number without dimensions. */
static void put_arrays(struct buf *b)
{
	put_text(b, "dense");
	put_text(b, "dense/kernel:0");
	buf_u32(b, 2);
	buf_u64(b, 2);
	buf_u64(b, 3);
	for (int k = 0; k < 6; k++)
		buf_f64(b, k);
	put_text(b, "dense");
	put_text(b, "dense/bias:0");
	buf_u32(b, 0);
	buf_f64(b, 7.5);
}

static int ask(struct keras_arrays *out, struct err *e)
{
	*e = (struct err){ 0 };
	*out = (struct keras_arrays){ .n = 0 };
	return keras_h5_read("file.h5", 1, out, e);
}

static void is_damaged(const char *what)
{
	struct keras_arrays got;
	struct err e;
	int code = ask(&got, &e);

	tap_ok(code == -ERR_BAD_DATA && !strcmp(e.text, "file.h5: damaged: the HDF5 library fails on this file"), "%s: %d, %s", what, code, e.text);
	if (!code)
		keras_arrays_release(&got);
}

static void test_whole(void)
{
	struct keras_arrays got;
	struct err e;

	answer.len = answer.body.len;
	answer.narray = 2;
	if (ask(&got, &e))
		tap_bail("%s", e.text);
	tap_ok(got.n == 2 && !strcmp(got.array[0].layer, "dense") && !strcmp(got.array[0].name, "dense/kernel:0"), "a whole answer: names");
	tap_ok(got.array[0].ndim == 2 && got.array[0].dim[0] == 2 && got.array[0].dim[1] == 3 && got.array[0].count == 6, "shapes");
	tap_ok(got.array[0].value[5] == 5 && got.array[1].count == 1 && got.array[1].value[0] == 7.5, "numbers");
	keras_arrays_release(&got);
	answer.code = -ERR_CONFIG;
	tap_ok(ask(&got, &e) == -ERR_CONFIG && strstr(e.text, "what the library says"), "an error is that of the reader: %s", e.text);
	answer.code = 0;
}

static void test_wrong(void)
{
	unsigned wrong = 0;

	for (answer.len = 0; answer.len < answer.body.len; answer.len++) {
		struct keras_arrays got;
		struct err e;

		wrong += ask(&got, &e) != -ERR_BAD_DATA;
	}
	tap_is_int(wrong, 0, "arrays that end too early, at any byte");
	answer.narray = 1;
	is_damaged("more bytes than arrays");
	answer.narray = 3;
	is_damaged("more arrays than bytes");
	answer.narray = KERAS_ARRAYS_MAX + 1;
	is_damaged("more arrays than a file may have");
	answer.narray = 2;
	answer.crash = true;
	is_damaged("no answer");
}

int main(void)
{
	close(open("file.h5", O_WRONLY | O_CREAT, 0600));
	put_arrays(&answer.body);
	test_whole();
	test_wrong();
	buf_release(&answer.body);
	return tap_done();
}
