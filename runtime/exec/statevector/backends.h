/* SPDX-License-Identifier: Apache-2.0
 * The table of backends: BACKENDS(BACKEND, TEST_BACKEND, WORD) is its rows, the preferred backend first, which is the processor.
 *
 * BACKEND(name, words, text): backend_NAME is its table of functions (backend.h); words are what
 * --device and run.device take for it, the name and forms that begin with it, each a WORD; text is
 * a sentence of help and manual. TEST_BACKEND: --device takes it, but for train, as a configuration does not. */
#pragma once

#define BACKENDS(BACKEND, TEST_BACKEND, WORD) \
	BACKEND(cpu, WORD("cpu"), "cpu is the processor. ") \
	BACKEND(cuda, WORD("cuda") WORD("cuda:N"), \
		"cuda is all NVIDIA GPUs of the machine, cuda:N the one of that number. ") \
	BACKEND(ref, WORD("ref"), "ref is a slow and simple reference. ") \
	TEST_BACKEND(null, WORD("null"), \
		"null allocates no state and returns zeros, to try plans and hosts at any size. ")

/* Kernel sets of processors, of each from the least to the best: what --isa takes besides auto. */
#define PROCESSOR_KERNELS(WORD) WORD("baseline") WORD("avx2") WORD("avx512") WORD("neon")

/* Columns of it, and forms of a word. */
#define BACKEND_LEFT_OUT(name, words, text)
#define BACKEND_WORDS(name, words, text) words
#define BACKEND_TEXT(name, words, text) text
#define WORD_BEHIND_BAR(word) "|" word
#define WORD_IN_LIST(word) word,
