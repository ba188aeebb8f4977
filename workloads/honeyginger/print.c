/* The samples as JSON or as a table. Nothing here allocates on the collector. */
#include "collection.h"
#include "point.h"

#include <inttypes.h>
#include <jansson.h>

static double number_of(eden_value sample, size_t slot) { return float_value(eden_slot(sample, slot)); }

static json_t *pair(double a, double b) { return json_pack("[f, f]", a, b); }
static json_t *point_json(eden_value point) { return pair(point_x(point), point_y(point)); }

/* NULL where memory is refused. */
static json_t *sample_json(eden_value sample) {
    json_t *momentum = point_json(eden_slot(sample, SAMPLE_MOMENTUM));
    json_t *centre = point_json(eden_slot(sample, SAMPLE_CENTRE));
    json_t *impulse = point_json(eden_slot(sample, SAMPLE_IMPULSE));
    json_t *density = pair(number_of(sample, SAMPLE_DENSITY_LEAST), number_of(sample, SAMPLE_DENSITY_MOST));
    return json_pack("{s:I, s:f, s:f, s:o, s:o, s:o, s:o}", "step",
                     (json_int_t)eden_int_value(eden_slot(sample, SAMPLE_STEP)), "kinetic",
                     number_of(sample, SAMPLE_KINETIC), "potential", number_of(sample, SAMPLE_POTENTIAL), "momentum",
                     momentum, "centre", centre, "wall_impulse", impulse, "density", density);
}

bool print_json(const struct simulation *s) {
    json_t *samples = json_array();
    for (size_t i = 0; i < list_size(s->roots[ROOT_SAMPLES]); i++) {
        if (json_array_append_new(samples, sample_json(list_at(s->roots[ROOT_SAMPLES], i))) != 0) {
            json_decref(samples);
            return program_fail(s->program, "no memory to print sample %zu", i);
        }
    }
    char sum[17];
    snprintf(sum, sizeof sum, "%016" PRIx64, checksum(s));
    json_t *root = json_pack("{s:I, s:I, s:[f, f], s:o, s:s}", "particles", (json_int_t)particle_count(s), "steps",
                             (json_int_t)s->steps, "box", s->width, s->height, "samples", samples, "checksum", sum);
    /* 17 significant digits name a double exactly. */
    bool ok = root != NULL && json_dumpf(root, stdout, JSON_REAL_PRECISION(17)) == 0 && putchar('\n') != EOF;
    json_decref(root);
    return ok || program_fail(s->program, "the result can't be written");
}

bool print_table(const struct simulation *s) {
    printf("%zu particles in a box of %g m by %g m, %" PRId64 " steps\n\n", particle_count(s), s->width, s->height,
           s->steps);
    printf("%8s  %12s  %12s  %22s  %22s  %18s\n", "step", "kinetic, J", "potential, J", "momentum, N s",
           "centre of mass, m", "density, kg/m^3");
    for (size_t i = 0; i < list_size(s->roots[ROOT_SAMPLES]); i++) {
        eden_value sample = list_at(s->roots[ROOT_SAMPLES], i);
        eden_value momentum = eden_slot(sample, SAMPLE_MOMENTUM), centre = eden_slot(sample, SAMPLE_CENTRE);
        printf("%8" PRId64 "  %12.3f  %12.3f  %10.3f, %10.3f  %10.5f, %10.5f  %8.2f, %8.2f\n",
               eden_int_value(eden_slot(sample, SAMPLE_STEP)), number_of(sample, SAMPLE_KINETIC),
               number_of(sample, SAMPLE_POTENTIAL), point_x(momentum), point_y(momentum), point_x(centre),
               point_y(centre), number_of(sample, SAMPLE_DENSITY_LEAST), number_of(sample, SAMPLE_DENSITY_MOST));
    }
    return printf("\nchecksum %016" PRIx64 "\n", checksum(s)) >= 0 ||
           program_fail(s->program, "the result can't be written");
}
