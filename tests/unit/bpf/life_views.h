/* A model for the tests of the views of lifetimes, whose names are as bad as names can be, and views as text. */
#ifndef EDEN_TESTS_LIFE_VIEWS_H
#define EDEN_TESTS_LIFE_VIEWS_H

#include "life_builder.h"
#include "views/lifetimes/view.h"

#include "suite.h"

enum { MANY = 100000 };
enum { NAMES = 10, SITES = 2 * NAMES };

/* No name holds a slash: what a shell made of one would be a file in this folder. */
extern const char *const names[NAMES];

/* The objects of a model. Site 2n is the class itself, 2n + 1 a place that allocates it. Each tenth object is alive at
 * the end. */
struct build_end nth_end(size_t i);
struct eden_life_record record_of(size_t i, const struct build_end *end);

/* One heap, number 3 of process 4711, with `count` objects; details: recorded one by one. */
struct life_model make_model(size_t count, bool details);
/* Two heaps, 3 and 4, with the same sites; 1,000 and 2,000 objects. */
struct life_model make_two_heaps(void);
void clear_model(struct life_model *model);

/* What a view prints, to be freed, and how many bytes it is. */
char *print(const char *view, const struct life_model *model, const struct life_view_options *options, size_t *size);

#endif
