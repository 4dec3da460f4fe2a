/* SPDX-License-Identifier: Apache-2.0
 * Progress: golden text where there is no terminal; a bar that fits where there is one. */
#include "config.h"
#include "runtime/log/progress.h"

#include <unistd.h>

#include "tests/tap.h"

static const char *const metric[] = { "sign_accuracy" };

static struct progress_epoch epoch(uint32_t start, uint32_t number, const double *value, double seconds)
{
	return (struct progress_epoch){ .start = start, .epoch = number, .loss = value[0], .metric = &value[1],
		.val_loss = value[2], .val_metric = &value[3], .has_validation = true, .seconds = seconds };
}

/* What a run of that many starts of two epochs of three steps prints. */
static char *run(bool quiet, bool terminal, uint32_t starts, double seconds)
{
	static const double value[4][4] = { { 0.9123456, 0.5, 0.87, 0.25 }, { 0.0001234, 0.75, 1.5, 1 },
		{ 0.5, 0.5, 0.25, 0.5 }, { 0.00001, 1, 0, 1 } };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct progress_options o = { .out = out, .quiet = quiet, .terminal = terminal, .epochs = 2, .steps_per_epoch = 3,
		.starts = starts, .metric = metric, .nmetric = 1, .loss = "mse" };
	struct progress *p = progress_new(&o);

	for (uint32_t s = 0; s < starts; s++) {
		for (uint32_t e = 1; e <= 2; e++) {
			struct progress_epoch r = epoch(s, e, value[2 * s + e - 1], seconds);

			for (uint32_t k = 1; k <= 3; k++)
				progress_step(p, s, e, k, 1.0 / k);
			progress_epoch(p, &r);
		}
		progress_start_done(p, s, value[2 * s + 1][0]);
	}
	progress_free(p);
	fclose(out);
	return text;
}

static void test_lines(void)
{
	char *text = run(false, false, 1, 0.0123);

	tap_is_str(text,
		"epoch 1/2  loss 0.9123  sign_accuracy 0.5000  val_loss 0.8700  val_sign_accuracy 0.2500  12 ms\n"
		"epoch 2/2  loss 1.2340e-04  sign_accuracy 0.7500  val_loss 1.5000  val_sign_accuracy 1.0000  12 ms\n",
		"one line per epoch");
	free(text);
	text = run(false, false, 2, 0.25);
	tap_is_str(text,
		"start 1/2  loss 1.2340e-04  sign_accuracy 0.7500  val_loss 1.5000  val_sign_accuracy 1.0000  500 ms\n"
		"start 2/2  loss 1.0000e-05  sign_accuracy 1.0000  val_loss 0.0000  val_sign_accuracy 1.0000  500 ms\n"
		"best of 2 starts: start 2  loss 1.0000e-05\n",
		"one line per start, and the best");
	free(text);
	text = run(false, false, 2, 90);
	tap_ok(strstr(text, "start 1/2  epoch 2/2  loss 1.2340e-04") != NULL && strstr(text, "  90.0 s\n") != NULL,
		"slow epochs of several starts have lines of their own");
	free(text);
	text = run(true, true, 2, 1);
	tap_is_str(text, "", "quiet is quiet");
	free(text);
}

/* Columns of what was drawn last, without escapes. */
static size_t columns_of(const char *text)
{
	const char *at = strchr(text, '\r'), *end;

	end = at ? strchr(at, '\033') : NULL;
	return end ? (size_t)(end - at) - 1 : 0;
}

static void test_bar(const char *columns, size_t width)
{
	char *text;

	setenv("COLUMNS", columns, 1);
	text = run(false, true, 1, 0.01);
	tap_ok(columns_of(text) > 9 && columns_of(text) < width, "COLUMNS=%s: %zu columns", columns, columns_of(text));
	tap_ok(strncmp(text, "\repoch 1/2", 10) == 0, "a bar is drawn at once");
	tap_ok(strstr(text, "\r\033[Kepoch 1/2  loss 0.9123") != NULL, "and gives way to the epoch's line");
	tap_ok(strchr(text, '[') != NULL && (width < 60 || strstr(text, "  [====") || strstr(text, "  [===")), "the bar is there where it fits");
	tap_ok(text[strlen(text) - 1] == '\n', "the last line is ended");
	free(text);
}

/* The clock allows one drawing: six steps take no twentieth of a second. */
static void test_rate(void)
{
	char *text = run(false, true, 1, 0.01), *at = text;
	int drawn = 0;

	while ((at = strstr(at, "\repoch")))
		drawn++, at++;
	tap_ok(drawn >= 1 && drawn <= 2, "drawn %d times in six quick steps", drawn);
	free(text);
}

int main(void)
{
	test_lines();
	test_bar("100", 100);
	test_bar("40", 40);
	test_bar("1", 20);
	test_bar("nonsense", 80);
	test_rate();
	return tap_done();
}
