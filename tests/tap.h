/* SPDX-License-Identifier: Apache-2.0
 * Test results as TAP, for the C tests: numbered points, a plan at the end, an exit status.
 *
 * A test is a main() that calls the points below and ends with `return tap_done();`.
 * Every point returns true when it passed. Messages are printf formats and need no newline.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count;
static int tap_failures;

__attribute__((unused)) static bool tap_vpoint(bool pass, const char *format, va_list args)
{
	printf("%s %d - ", pass ? "ok" : "not ok", ++tap_count);
	vprintf(format, args);
	putchar('\n');
	tap_failures += !pass;
	fflush(stdout);
	return pass;
}

/* Prints a remark below a point. */
__attribute__((unused, format(printf, 1, 2))) static void tap_note(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* Passes when pass holds. */
__attribute__((unused, format(printf, 2, 3))) static bool tap_ok(bool pass, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tap_vpoint(pass, format, args);
	va_end(args);
	return pass;
}

/* Passes when the two integers are equal. */
__attribute__((unused, format(printf, 3, 4))) static bool tap_is_int(long long got, long long want, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tap_vpoint(got == want, format, args);
	va_end(args);
	if (got != want)
		tap_note("got %lld, expected %lld", got, want);
	return got == want;
}

/* Passes when the two strings are equal; a null string equals only a null string. */
__attribute__((unused, format(printf, 3, 4))) static bool tap_is_str(const char *got, const char *want, const char *format, ...)
{
	bool pass = got && want ? strcmp(got, want) == 0 : got == want;
	va_list args;

	va_start(args, format);
	tap_vpoint(pass, format, args);
	va_end(args);
	if (!pass)
		tap_note("got \"%s\", expected \"%s\"", got ? got : "(null)", want ? want : "(null)");
	return pass;
}

/* Passes when the two byte strings are equal. */
__attribute__((unused, format(printf, 4, 5))) static bool tap_is_mem(const void *got, const void *want, size_t nbytes, const char *format, ...)
{
	const unsigned char *g = got, *w = want;
	size_t i = 0;
	va_list args;

	while (i < nbytes && g[i] == w[i])
		i++;
	va_start(args, format);
	tap_vpoint(i == nbytes, format, args);
	va_end(args);
	if (i < nbytes)
		tap_note("byte %zu of %zu: got %02x, expected %02x", i, nbytes, g[i], w[i]);
	return i == nbytes;
}

/* Passes when |got - want| <= tolerance; never for a NaN. */
__attribute__((unused, format(printf, 4, 5))) static bool tap_close(double got, double want, double tolerance, const char *format, ...)
{
	bool pass = fabs(got - want) <= tolerance;
	va_list args;

	va_start(args, format);
	tap_vpoint(pass, format, args);
	va_end(args);
	if (!pass)
		tap_note("got %.17g, expected %.17g, off by %g, allowed %g", got, want, fabs(got - want), tolerance);
	return pass;
}

/* The larger of two distances, and a NaN where one is (fmax would lose it). */
__attribute__((unused)) static double tap_worst(double a, double b)
{
	return isnan(a) || b <= a ? a : b;
}

/* Counts one point as skipped. */
__attribute__((unused, format(printf, 1, 2))) static void tap_skip(const char *format, ...)
{
	va_list args;

	printf("ok %d # SKIP ", ++tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* Ends a test that can do nothing at all here: call it before the first point. */
__attribute__((unused, noreturn, format(printf, 1, 2))) static void tap_skip_all(const char *format, ...)
{
	va_list args;

	fputs("1..0 # SKIP ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	exit(0);
}

/* Ends a test that cannot go on. */
__attribute__((unused, noreturn, format(printf, 1, 2))) static void tap_bail(const char *format, ...)
{
	va_list args;

	fputs("Bail out! ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	exit(99);
}

/* Folder of the shipped sources, for files that a test reads ("tests/lang/x.qcnn" is below it). */
__attribute__((unused)) static const char *tap_srcdir(void)
{
	const char *dir = getenv("top_srcdir");

	return dir ? dir : ".";
}

/* Prints the plan; returns the exit status for main. */
__attribute__((unused)) static int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failures || !tap_count;
}

#endif
