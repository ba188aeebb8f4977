/* The picture: 8 by 8 pixels of a byte for each cell. For each cell with particles a Form is made, its tile; each
 * particle fills its bounds, cut off at the tile, with a colour that says how fast it is. */
#include "fluid.h"

#include <string.h>

enum { TILE = 8, PIXELS = TILE * TILE, RADIUS = 1 };
enum { CELL, FORM_MADE, BITS, ORIGIN, CORNER, DRAWN, LOCALS };

/* FORM_MADE becomes the empty tile of a cell. */
static bool tile_make(struct fluid *fluid, eden_value *local, size_t index) {
    eden_mutator *m = fluid->mutator;
    int64_t wide = (int64_t)fluid_cells_wide(fluid), cell = (int64_t)index;
    local[BITS] = fluid_new(fluid, eden_new_raw(m, fluid->sites[SITE_TILE_BITS], PIXELS));
    if (local[BITS] == EDEN_NONE) {
        return false;
    }
    memset(eden_raw(local[BITS]), 0, PIXELS);
    local[ORIGIN] = fluid_pair(fluid, SITE_TILE_OFFSET, eden_int(cell % wide * TILE), eden_int(cell / wide * TILE));
    eden_value form = local[ORIGIN] == EDEN_NONE ? EDEN_NONE : fluid_new(fluid, eden_new(m, fluid->sites[SITE_TILE]));
    if (form == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, form, FORM_BITS, local[BITS]);
    eden_slot_set(m, form, FORM_WIDTH, eden_int(TILE));
    eden_slot_set(m, form, FORM_HEIGHT, eden_int(TILE));
    eden_slot_set(m, form, FORM_DEPTH, eden_int(8));
    eden_slot_set(m, form, FORM_OFFSET, local[ORIGIN]);
    local[FORM_MADE] = form;
    return true;
}

static int64_t cut(int64_t pixel) { return pixel < 0 ? 0 : pixel > TILE ? TILE : pixel; }
static int64_t int_at(eden_value object, size_t slot) { return eden_int_value(eden_slot(object, slot)); }

/* DRAWN becomes the Rectangle that a particle fills, relative to its tile. */
static bool bounds_make(struct fluid *fluid, eden_value *local, eden_value position) {
    const double side = support / TILE;
    int64_t x = (int64_t)(point_x(position) / side) % TILE, y = (int64_t)(point_y(position) / side) % TILE;
    local[ORIGIN] = fluid_pair(fluid, SITE_BOUNDS_CORNER, eden_int(cut(x - RADIUS)), eden_int(cut(y - RADIUS)));
    eden_value right = eden_int(cut(x + RADIUS + 1)), top = eden_int(cut(y + RADIUS + 1));
    local[CORNER] = local[ORIGIN] == EDEN_NONE ? EDEN_NONE : fluid_pair(fluid, SITE_BOUNDS_CORNER, right, top);
    eden_value bounds =
        local[CORNER] == EDEN_NONE ? EDEN_NONE : fluid_new(fluid, eden_new(fluid->mutator, fluid->sites[SITE_BOUNDS]));
    if (bounds == EDEN_NONE) {
        return false;
    }
    eden_slot_set(fluid->mutator, bounds, RECTANGLE_ORIGIN, local[ORIGIN]);
    eden_slot_set(fluid->mutator, bounds, RECTANGLE_CORNER, local[CORNER]);
    local[DRAWN] = bounds;
    return true;
}

/* Fills DRAWN. Does not collect. */
static void fill(struct fluid *fluid, const eden_value *local, eden_value velocity) {
    double squared = point_x(velocity) * point_x(velocity) + point_y(velocity) * point_y(velocity);
    uint8_t colour = (uint8_t)(squared < 63.0 ? 1.0 + 4.0 * squared : 255.0);
    eden_value origin = eden_slot(local[DRAWN], RECTANGLE_ORIGIN), corner = eden_slot(local[DRAWN], RECTANGLE_CORNER);
    size_t width = (size_t)(int_at(corner, POINT_X) - int_at(origin, POINT_X));
    uint8_t *bits = eden_raw(eden_slot(local[FORM_MADE], FORM_BITS));
    for (int64_t y = int_at(origin, POINT_Y); y < int_at(corner, POINT_Y); y++) {
        memset(bits + y * TILE + int_at(origin, POINT_X), colour, width);
        fluid->pixels += width;
    }
}

static bool draw_cell(struct fluid *fluid, eden_value *local, size_t index) {
    if (!tile_make(fluid, local, index)) {
        return false;
    }
    int64_t count = int_at(local[CELL], 0);
    for (int64_t i = 1; i <= count; i++) {
        if (!bounds_make(fluid, local, eden_slot(eden_slot(local[CELL], (size_t)i), PARTICLE_POSITION))) {
            return false;
        }
        fill(fluid, local, eden_slot(eden_slot(local[CELL], (size_t)i), PARTICLE_VELOCITY));
    }
    const uint8_t *bits = eden_raw(eden_slot(local[FORM_MADE], FORM_BITS));
    for (size_t i = 0; i < PIXELS; i++) {
        fluid->checksum = (fluid->checksum ^ bits[i]) * 0x100000001B3u; /* FNV-1a */
    }
    return true;
}

bool fluid_draw(struct fluid *fluid) {
    EDEN_FRAME(fluid->mutator, local, LOCALS);
    bool done = true;
    for (size_t i = 0; done && i < eden_slot_count(fluid->roots[ROOT_MAP]); i++) {
        local[CELL] = eden_slot(fluid->roots[ROOT_MAP], i);
        done = local[CELL] == EDEN_NONE || draw_cell(fluid, local, i);
    }
    return done;
}
