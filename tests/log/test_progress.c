/* SPDX-License-Identifier: Apache-2.0
 * Progress: golden text where there is no terminal; a bar that fits where there is one. */
#include "runtime/log/progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/system/clock.h"
#include "runtime/log/live.h"
#include "runtime/log/terminal.h"
#include "tests/tap.h"

static bool wants_live, wants_workers;
static unsigned most_workers;

static struct metrics_line values_of(const double *value)
{
	return (struct metrics_line){ .n = 4, .value = {
		{ .name = "loss", .part = METRICS_TRAINING, .given = true, .number = value[0] },
		{ .name = "sign_accuracy", .part = METRICS_TRAINING, .given = true, .number = value[1] },
		{ .name = "val_loss", .part = METRICS_VALIDATION, .given = true, .number = value[2] },
		{ .name = "val_sign_accuracy", .part = METRICS_VALIDATION, .given = true, .number = value[3] } } };
}

/* 12 lines, or as many as may be; the first is long. */
static void workers(void *ctx, unsigned most, struct buf *out)
{
	for (unsigned i = 0; i < most && i < 12; i++)
		buf_printf(out, "worker %u%*s|\n", i, i ? 1 : 200, "");
	*(unsigned *)ctx = most;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What a run of that many starts of two epochs of three steps prints. */
static char *run(bool quiet, bool terminal, uint32_t starts, double seconds)
{
	static const double value[4][4] = { { 0.9123456, 0.5, 0.87, 0.25 }, { 0.0001234, 0.75, 1.5, 1 },
		{ 0.5, 0.5, 0.25, 0.5 }, { 0.00001, 1, 0, 1 } };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct progress_options o = { .out = out,
		.lock = &lock,
		.quiet = quiet,
		.terminal = terminal,
		.epochs = 2,
		.steps_per_epoch = 3,
		.live = wants_live,
		.restarts = starts,
		.loss = "mse",
		.lines = wants_workers ? workers : NULL,
		.lines_ctx = &most_workers };
	struct progress *p = progress_new(&o);

	for (uint32_t s = 0; s < starts; s++) {
		for (uint32_t e = 1; e <= 2; e++) {
			struct metrics_line r = values_of(value[2 * s + e - 1]);

			for (uint32_t k = 1; k <= 3; k++)
				progress_step(p, s, e, k, 1.0 / k);
			progress_epoch(p, s, e, seconds, &r);
		}
		progress_restart_done(p, s, value[2 * s + 1][0]);
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
		"restart 1/2  loss 1.2340e-04  sign_accuracy 0.7500  val_loss 1.5000  val_sign_accuracy 1.0000  500 ms\n"
		"restart 2/2  loss 1.0000e-05  sign_accuracy 1.0000  val_loss 0.0000  val_sign_accuracy 1.0000  500 ms\n"
		"best of 2 restarts: restart 2  loss 1.0000e-05\n",
		"one line per start, and the best");
	free(text);
	text = run(false, false, 2, 90);
	tap_ok(strstr(text, "restart 1/2  epoch 2/2  loss 1.2340e-04") != NULL
			&& strstr(text, "  90.0 s\n") != NULL,
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
	tap_ok(columns_of(text) > 9 && columns_of(text) + 2 < width, "COLUMNS=%s: %zu columns", columns, columns_of(text));
	tap_ok(strncmp(text, "\repoch 1/2", 10) == 0, "a bar is drawn at once");
	tap_ok(strstr(text, "\r\033[Kepoch 1/2  loss 0.9123") != NULL, "and gives way to the epoch's line");
	tap_ok(strchr(text, '[') != NULL && (width < 60 || strstr(text, "  [====") || strstr(text, "  [===")), "the bar is there where it fits");
	tap_ok(text[strlen(text) - 1] == '\n', "the last line is ended");
	free(text);
}

/* The clock allows one drawing in a twentieth of a second, of which six steps take more on a busy machine. */
static void test_rate(void)
{
	double begun = clock_seconds();
	char *text = run(false, true, 1, 0.01), *at = text;
	int most = 2 + (int)(20 * (clock_seconds() - begun)), drawn = 0;

	while ((at = strstr(at, "\repoch")))
		drawn++, at++;
	tap_ok(drawn >= 1 && drawn <= most, "drawn %d times in six quick steps", drawn);
	free(text);
}

/* Where a terminal is too narrow for the numbers, validation has a line of its own. */
static void test_folds(void)
{
	char *text;
	size_t widest = 0;

	setenv("COLUMNS", "80", 1);
	text = run(false, true, 1, 0.0123);
	tap_ok(strstr(text, "epoch 1/2  loss 0.9123  sign_accuracy 0.5000  12 ms\n"
		"           val_loss 0.8700  val_sign_accuracy 0.2500\n") != NULL, "80 columns: training and validation below each other");
	free(text);
	setenv("COLUMNS", "30", 1);
	text = run(false, true, 1, 0.0123);
	for (const char *at = strstr(text, "epoch 1/2  loss 0.9123"), *end; at && *at; at = end + (*end == '\n')) {
		end = at + strcspn(at, "\r\n");
		widest = (size_t)(end - at) > widest ? (size_t)(end - at) : widest;
		if (*end != '\n')
			break;
	}
	tap_ok(widest > 20 && widest <= 29, "30 columns: %zu at most, one name and number a line, indented as far as that goes", widest);
	free(text);
	setenv("COLUMNS", "120", 1);
	text = run(false, true, 1, 0.0123);
	tap_ok(strstr(text, "epoch 1/2  loss 0.9123  sign_accuracy 0.5000  val_loss 0.8700  val_sign_accuracy 0.2500  12 ms\n") != NULL,
		"120 columns: one line");
	free(text);
}

/* ---- curves ---- */

static void test_curves(void)
{
	struct live l = { .training = NULL };
	struct buf b = BUF_INIT;
	unsigned lines = 0, wrong = 0;

	live_clear(&l);
	live_add(&l, 1, 1, NAN);
	live_draw(&l, "loss", 7, 44, false, false, &b);
	tap_is_int((long long)b.len, 0, "one point is no curve");
	live_add(&l, 2, 0.5, 0.75);
	live_add(&l, 3, 0.75, 0.5);
	live_draw(&l, "loss", 7, 44, false, false, &b);
	tap_is_str(b.data,
		"      loss  ** training  o validation\n"
		"    1.0000 |**                             \n"
		"           |  ****                         \n"
		"           |      ****     o  o        ****\n"
		"           |          ****     **o**o**    \n"
		"    0.5000 |              *****        o  o\n"
		"            epoch 1                       3\n", "three epochs");
	buf_clear(&b);
	live_draw(&l, "loss", 4, 44, false, false, &b);
	live_draw(&l, "loss", 7, 20, false, false, &b);
	tap_is_int((long long)b.len, 0, "nothing where there is no room");
	live_draw(&l, "loss", 12, 60, true, true, &b);
	for (const char *at = b.data; *at; at++)
		lines += *at == '\n';
	tap_is_int(lines, 12, "as many lines as asked for");
	tap_ok(strstr(b.data, "\033[32m\xe2\xa0") || strstr(b.data, "\033[32m\xe2\xa1") || strstr(b.data, "\033[32m\xe2\xa2"), "braille, in colour");
	for (uint32_t e = 4; e < 3 * LIVE_POINTS_MAX; e++)
		live_add(&l, e, e % 7 ? 1e-6 * e : NAN, e % 5 ? 0.5 : -INFINITY);
	tap_ok(l.n <= LIVE_POINTS_MAX && l.last == 3 * LIVE_POINTS_MAX - 1 && l.every >= 2, "many epochs: %zu points", l.n);
	for (unsigned rows = 0; rows < 20; rows++)
		for (unsigned columns = 0; columns < 90; columns++) {
			size_t line = 0;

			buf_clear(&b);
			live_draw(&l, "loss", rows, columns, false, false, &b);
			for (const char *at = b.len ? b.data : ""; *at; at++, line++) {
				wrong += *at != '\n' && line >= columns;
				line = *at == '\n' ? (size_t)-1 : line;
			}
		}
	tap_is_int(wrong, 0, "no line is wider than the window");
	buf_clear(&b);
	live_draw(&l, "sign_accuracy_of_all", 7, 32, false, false, &b);
	tap_ok(!strncmp(b.data, "sign_accuracy_of_a  ** training\n", 32), "a long name is cut: %.32s", b.data);
	buf_clear(&b);
	live_clear(&l);
	live_add(&l, 1, 0.9, NAN);
	live_add(&l, 2, 0.1, NAN);
	live_draw(&l, "mae", 8, 60, false, false, &b);
	tap_ok(!strstr(b.data, "log") && strstr(b.data, "       mae  ** training\n"), "less than a decade: linear, and the metric has its name");
	buf_clear(&b);
	live_clear(&l);
	for (uint32_t e = 1; e < 9; e++)
		live_add(&l, e, pow(10, -(double)e), NAN);
	live_draw(&l, "loss", 8, 60, false, false, &b);
	tap_ok(strstr(b.data, "training, log\n") && strstr(b.data, "1.00e-08 |") && !strstr(b.data, "validation"), "far apart: a logarithmic scale");
	buf_release(&b);
	live_release(&l);
}

/* A falling line in braille: two by four dots a character, each column one below the other, from the first row to the last. */
static void test_braille(void)
{
	static const unsigned dot[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	enum { ROWS = 5, COLUMNS = 33 };
	struct live l = { .training = NULL };
	struct buf b = BUF_INIT;
	unsigned height[2 * COLUMNS] = { 0 }, wrong = 0, row = 0;

	live_clear(&l);
	live_add(&l, 1, 1, NAN);
	live_add(&l, 2, 0.5, NAN);
	live_draw(&l, "loss", ROWS + 2, COLUMNS + 13, true, false, &b);
	for (const char *at = b.data; (at = strstr(at, "\xe2\x94\x82")); row++) {
		unsigned column = 0;

		for (at += 3; *at != '\n'; column += 2) {
			const unsigned char *c = (const unsigned char *)at;
			unsigned code = *at == ' ' ? 0 : (unsigned)(c[1] & 0x3f) << 6 | (c[2] & 0x3f);

			for (unsigned k = 0; k < 8 && column + k % 2 < 2 * COLUMNS; k++)
				if (code & dot[k / 2][k % 2])
					height[column + k % 2] = 4 * row + k / 2 + 1;
			at += *at == ' ' ? 1 : 3;
		}
	}
	for (unsigned k = 1; k < 2 * COLUMNS; k++)
		wrong += height[k] < height[k - 1] || height[k] > height[k - 1] + 1;
	tap_ok(row == ROWS && wrong == 0 && height[0] == 1 && height[2 * COLUMNS - 1] == 4 * ROWS, "a line of braille falls from %u to %u, %u gaps",
		height[0], height[2 * COLUMNS - 1], wrong);
	buf_release(&b);
	live_release(&l);
}

/* After a resume: the epochs before it belong to the curves, those of starts that are done do not. */
static void test_past(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct progress_options o = { .out = out,
		.lock = &lock,
		.terminal = true,
		.live = true,
		.epochs = 9,
		.steps_per_epoch = 1,
		.restarts = 2,
		.restarts_done = 1,
		.live_metric = "sign_accuracy" };
	struct progress *p = progress_new(&o);
	struct metrics_line r = values_of((double[]){ 9, 0.625, 9, 0.5 });

	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t e = 1; e < 8; e++)
			progress_past(p, s, e, s ? 1 : 9, 0.25 + e / 32.0);
	progress_epoch(p, 1, 8, 0, &r);
	progress_free(p);
	fclose(out);
	tap_ok(strstr(text, "epoch 1 ") && strstr(text, " 8\n"), "the curves begin with epoch 1");
	tap_ok(strstr(text, "1.0000") && strstr(text, "0.2812") && !strstr(text, "9.0000"), "with the metric that is asked for: %s", text);
	tap_ok(strstr(text, "sign_accuracy of restart 2  "), "of the restart that runs");
	free(text);
}

/* The curves that stay are those of the best restart, also of one that ended before a resume. */
static void test_best(uint32_t restarts_done)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct progress_options o = { .out = out,
		.lock = &lock,
		.terminal = true,
		.live = true,
		.epochs = 3,
		.steps_per_epoch = 1,
		.restarts = 3,
		.restarts_done = restarts_done,
		.best = 0,
		.best_loss = 0.25 };
	struct progress *p = progress_new(&o);

	for (uint32_t s = 0; s < 3; s++) {
		for (uint32_t e = 1; e <= 3; e++) {
			struct metrics_line r =
				values_of((double[]){ s ? 7.0 : 1.0 / (1 + e), 0, s ? 8 : 0.75, 0 });

			if (s < restarts_done)
				progress_past(p, s, e, r.value[0].number, 0.75);
			else
				progress_epoch(p, s, e, 0, &r);
		}
		if (s >= restarts_done)
			progress_restart_done(p, s, s ? 7 : 0.25);
	}
	progress_free(p);
	fclose(out);
	const char *end = strstr(text, "best of 3 restarts: restart 1");
	tap_ok(end && strstr(end, "loss of the best, restart 1  "),
		"curves at the end, %u restarts before: %s", restarts_done, text);
	tap_ok(end && strstr(end, "0.7500 ") && !strstr(end, "8.0000 "), "are those of the best");
	free(text);
}

/* Messages of another thread while this one draws: each line is printed once, and what makes further lines does not hold the lock. */
static pthread_mutex_t terminal;
static atomic_bool talking;
static bool was_held;

static void *talk(void *progress)
{
	while (talking) {
		pthread_mutex_lock(&terminal);
		progress_clear(progress);
		pthread_mutex_unlock(&terminal);
	}
	return NULL;
}

static void take_lock(void *ctx, unsigned most, struct buf *out)
{
	(void)ctx;
	(void)most;
	(void)out;
	if (pthread_mutex_lock(&terminal))
		was_held = true;
	else
		pthread_mutex_unlock(&terminal);
}

/* The lines of epochs in a text, which are numbered from 1 on; 0: one is missing, or twice there. */
static unsigned epochs_in(const char *text)
{
	unsigned last = 0;

	for (const char *at = text; (at = strstr(at, "epoch ")); at++) {
		char *end;
		unsigned long n = strtoul(at + strlen("epoch "), &end, 10);

		if (strncmp(end, "/20000  loss", strlen("/20000  loss")))
			continue;
		if (n != last + 1)
			return 0;
		last++;
	}
	return last;
}

static void test_threads(void)
{
	enum { EPOCHS = 20000 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct progress_options o = { .out = out,
		.lock = &terminal,
		.terminal = true,
		.live = true,
		.epochs = EPOCHS,
		.steps_per_epoch = 1,
		.restarts = 1,
		.lines = take_lock };
	struct progress *p = progress_new(&o);
	struct metrics_line r = values_of((double[]){ 1, 1, 1, 1 });
	pthread_mutexattr_t kind;
	pthread_t thread;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&terminal, &kind);
	talking = true;
	pthread_create(&thread, NULL, talk, p);
	for (uint32_t e = 1; e <= EPOCHS; e++) {
		progress_step(p, 0, e, 1, 1);
		progress_epoch(p, 0, e, 0.01, &r);
	}
	talking = false;
	pthread_join(thread, NULL);
	progress_free(p);
	fclose(out);
	tap_is_int(epochs_in(text), EPOCHS, "messages of another thread: each line is there once");
	tap_ok(!was_held, "further lines are made without the lock");
	free(text);
}

static void wraps(const char *text, size_t width, const char *want)
{
	struct buf b = BUF_INIT;

	terminal_wrap(text, width, &b);
	tap_is_str(b.data, want, "wrapped at words");
	buf_release(&b);
}

static void test_wrap(void)
{
	wraps("the weights are in runs/a\n", 80, "the weights are in runs/a\n");
	wraps("the weights are in runs/a\nnext\n", 12, "the weights\n  are in\n  runs/a\nnext\n");
	wraps("a averyveryverylongword b\n", 12, "a\n  averyveryverylongword\n  b\n");
	wraps("a \033[1;31merror\033[0m: été\n", 13, "a \033[1;31merror\033[0m: été\n");
	wraps("    indented by four\n", 16, "    indented by\n  four\n");
}

/* --live on a terminal, and elsewhere. */
static void test_live(void)
{
	char *text;

	setenv("COLUMNS", "80", 1);
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	setenv("LANG", "C", 1);
	wants_live = true;
	text = run(false, true, 1, 0.01);
	tap_ok(strstr(text, "** training") && strstr(text, "epoch 1/2  loss") < strstr(text, "** training"), "curves below the lines");
	tap_ok(!strcmp(text + strlen(text) - 2, "2\n"), "which stay when all is done");
	free(text);
	setenv("LANG", "en_US.UTF-8", 1);
	text = run(false, true, 2, 0.01);
	tap_ok(strstr(text, "\xe2\xa0\xa4") && strstr(text, "best of 2 restarts"),
		"braille where the terminal has it, and several starts");
	free(text);
	text = run(false, false, 1, 0.01);
	tap_ok(!strstr(text, "training") && !strchr(text, '\033') && !strncmp(text, "epoch 1/2  loss 0.9123", 22), "plain lines in a pipe");
	free(text);
	text = run(true, true, 1, 0.01);
	tap_is_str(text, "", "nothing when quiet");
	free(text);
	wants_live = false;
}

static void test_workers(void)
{
	const char *first, *second, *bar;
	char *text;

	setenv("COLUMNS", "60", 1);
	wants_workers = true;
	text = run(false, true, 1, 0.01);
	first = strstr(text, "worker 0 ");
	second = strstr(text, "worker 1 |\n");
	bar = strstr(text, "epoch 1/2  [");
	tap_ok(first && second && bar && first < second && second < bar, "lines of others are above the bar");
	tap_is_int(second - first, 60, "cut to the width");
	tap_is_int(most_workers, 8, "at most a third of the window");
	tap_ok(strstr(text, "\033[8A\033[J"), "and are taken away with it");
	free(text);
	text = run(false, false, 1, 0.01);
	tap_ok(!strstr(text, "worker"), "none in a pipe");
	free(text);
	wants_workers = false;
}

static void test_notes(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct progress_options o = {
		.out = out, .lock = &lock, .epochs = 2, .steps_per_epoch = 3, .restarts = 4, .loss = "mse"
	};
	struct progress *p = progress_new(&o);
	struct metrics_line last = values_of((const double[]){ 0.25, 1, 0.5, 0.5 });
	struct metrics_line kept = values_of((const double[]){ 0.5, 0.75, 0.125, 1 });

	progress_note(p, "stopped after epoch 1");
	progress_restart_done(p, 0, 0.5);
	progress_epoch(p, 1, 2, 0.25, &last);
	progress_restored(p, 1, &kept);
	progress_restart_done(p, 1, 0.5);
	progress_epoch(p, 2, 2, 0.25, &last);
	progress_note(p, "stopped after epoch 2");
	progress_restored(p, 1, &kept);
	progress_restart_done(p, 2, 0.5);
	progress_epoch(p, 3, 2, 0.25, &last);
	progress_restored(p, 2, &last);
	progress_restart_done(p, 3, 0.25);
	progress_note(NULL, "nobody hears");
	progress_clear(NULL);
	progress_free(p);
	fclose(out);
	tap_is_str(text,
		"restart 1/4  loss 0.5000  0 ms  stopped after epoch 1\n"
		"restart 2/4  loss 0.5000  sign_accuracy 0.7500  val_loss 0.1250  val_sign_accuracy 1.0000  250 ms  with the weights of epoch 1\n"
		"restart 3/4  loss 0.5000  sign_accuracy 0.7500  val_loss 0.1250  val_sign_accuracy 1.0000  250 ms  stopped after epoch 2, with the "
		"weights of epoch 1\n"
		"restart 4/4  loss 0.2500  sign_accuracy 1.0000  val_loss 0.5000  val_sign_accuracy 0.5000  250 ms\n"
		"best of 4 restarts: restart 4  loss 0.2500\n",
		"a note on a restart is behind its line, which has the values of the weights that are kept");
	free(text);
}

/* Which variable says that the terminal has UTF-8: the first of the three that is set and not empty. */
static void test_utf8(void)
{
	static const char *const name[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (int k = 0; k < 3; k++)
		unsetenv(name[k]);
	tap_ok(!live_utf8(), "no locale is set: no UTF-8");
	setenv("LANG", "de_DE.UTF-8", 1);
	tap_ok(live_utf8(), "LANG");
	setenv("LC_ALL", "", 1);
	tap_ok(live_utf8(), "an empty LC_ALL counts as not set");
	setenv("LC_CTYPE", "C", 1);
	tap_ok(!live_utf8(), "LC_CTYPE comes before LANG");
	setenv("LC_ALL", "C.utf8", 1);
	tap_ok(live_utf8(), "LC_ALL comes before both");
}

int main(void)
{
	test_lines();
	test_folds();
	test_curves();
	test_braille();
	test_live();
	test_past();
	test_threads();
	test_best(0);
	test_best(1);
	test_best(2);
	test_wrap();
	test_workers();
	test_notes();
	test_bar("100", 100);
	test_bar("40", 40);
	test_bar("1", 20);
	test_bar("nonsense", 80);
	test_rate();
	test_utf8();
	return tap_done();
}
