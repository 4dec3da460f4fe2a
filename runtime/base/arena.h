/* SPDX-License-Identifier: Apache-2.0
 * Memory: arenas by lifetime for many small things, checked calls for the rest.
 *
 * mem_* never return NULL: when the system has no memory they call the handler
 * that cli installs (message, exit 78).  They are for small things whose number
 * a named limit bounds; anything whose size comes from input or grows with 2^n
 * uses mem_try or the backend's allocator and returns an error. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

void *mem_alloc(size_t n, size_t size);              /* zeroed; n*size checked */
void *mem_grow(void *p, size_t n, size_t size);      /* realloc, new part undefined */
char *mem_strdup(const char *s);
void *mem_try(size_t n, size_t size);                /* zeroed; NULL on overflow or failure */
/* `mem_auto double *v = mem_alloc(n, sizeof *v);`: a local pointer whose memory is freed wherever its scope ends, also
 * by return; NULL where it was handed over. */
#define mem_auto __attribute__((cleanup(mem_release)))
void mem_release(void *pointer); /* frees what a pointer of any type at `pointer` points to */
void mem_on_exhausted(void (*handler)(size_t nbytes)); /* must not return */
/* Ensure room for one more element in a malloc'ed vector: *cap doubles. */
#define mem_reserve(v, n, cap) \
	((n) < (cap) ? (void)0 : (void)((cap) = (cap) ? 2 * (cap) : 8, \
		(v) = mem_grow((v), (cap), sizeof *(v))))

/* What mem_try gives, to be freed at once. Zeros are an empty list; failed: once there was no memory. */
struct mem_list {
	void **block;
	size_t n, cap;
	bool failed;
};
void *mem_list_try(struct mem_list *l, size_t n, size_t size);
void mem_list_free(struct mem_list *l);
/* `mem_list_auto l = { 0 };`: a local one that is freed wherever its scope ends. */
#define mem_list_auto __attribute__((cleanup(mem_list_free))) struct mem_list

/* Zeros are an empty arena. `arena_auto a = { 0 };`: a local one that is released wherever its scope ends. */
struct arena { struct arena_block *top; size_t nbytes; };
#define arena_auto __attribute__((cleanup(arena_release))) struct arena

void arena_init(struct arena *a);
void *arena_alloc(struct arena *a, size_t n, size_t size); /* zeroed, 16-aligned */
void *arena_copy(struct arena *a, const void *p, size_t n, size_t size);
/* A new zeroed element at the end of an arena's list, which moves where it is full: its room is the power of two at or
 * above n. For lists that end with the arena; `list` is NULL and n 0 at first. */
#define arena_push(a, list, n) \
	((list) = arena_grow((a), (list), (n), sizeof *(list)), &(list)[(n)++])
void *arena_grow(struct arena *a, void *list, size_t n, size_t size); /* with room for one more */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What `from` holds becomes a's; `from` is empty afterwards. */
void arena_join(struct arena *a, struct arena *from);
void arena_release(struct arena *a); /* frees all; a is usable again */
