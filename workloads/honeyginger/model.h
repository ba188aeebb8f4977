/* The model: constants, kernels, and what must be computed in which order.
 *
 * Smoothed-particle hydrodynamics after Müller, Charypar and Gross, "Particle-Based Fluid Simulation for Interactive
 * Applications" (2003), in two dimensions. A quantity at a place is the sum of what the particles within the support h
 * contribute, weighted by a kernel W of the distance r < h that integrates to 1 over the plane:
 *
 *   poly6      W = 4 / (pi h^8) (h^2 - r^2)^3                      for densities
 *   spiky      W = 10 / (pi h^5) (h - r)^3                         for pressure:   -dW/dr = 30 / (pi h^5) (h - r)^2
 *   viscosity  W with W(h) = W'(h) = 0 and the Laplacian           for viscosity:  40 / (pi h^5) (h - r)
 *
 * (The paper's factors are those of three dimensions. Viscosity in the plane: (r W')' = K r (h - r) integrates to
 * W = K (h r^2 / 4 - r^3 / 9 - 5 h^3 / 36 - h^3 / 6 ln(r / h)), whose integral over the plane is K pi h^5 / 40.)
 *
 *   density    rho_i = sum of m_j poly6(r_ij), i itself included
 *   pressure   p_i = k (rho_i - rho_0), or 0 where that is negative: the particles of a splash do not attract each
 * other force on i from j pressure   m_i m_j (p_i + p_j) / (2 rho_i rho_j) (-dW/dr), along the unit vector from j to i
 *     viscosity  mu m_i m_j / (rho_i rho_j) Laplacian W, times v_j - v_i
 *   (the paper's force densities times the volume m_i / rho_i), and gravity.
 *
 * What j does to i is to the last bit the opposite of what i does to j, so momentum comes only from gravity and walls.
 *
 * Time: symplectic Euler, v += dt F / m, then x += dt v (the paper's leapfrog, with v a half step behind). A wall
 * throws back what is beyond it: distance from the wall and velocity towards it change sign and are damped by the same
 * factor (HGBoundingBox). The sound's speed is sqrt(k) = 10 m/s, and dt < 0.4 h / 10.
 *
 * Order. All numbers are doubles, each operation rounded by itself (build without fused multiply-add), sums from left
 * to right beginning with 0, vectors by component; so the same seed gives the same bits everywhere. Neighbors of a
 * particle come by partition, a square of side h: by its column, then by its row; within one, by the particle's number.
 * Partitions are found by floor(x / h). A particle is a neighbor if dx dx + dy dy < h h, and then r is the root of
 * that. Forces on a particle: the sum of pressures, added to the force (0); the sum of viscosities, added; gravity,
 * added. */
#ifndef SPH_MODEL_H
#define SPH_MODEL_H

/* Powers of two where there is a choice: quotients by them are exact. */
static const double spacing = 1.0 / 32;     /* m, of the particles at the beginning */
static const double support = 1.0 / 16;     /* m: h */
static const double time_step = 1.0 / 512;  /* s: dt */
static const double rest_density = 1000.0;  /* kg/m^2: rho_0 */
static const double stiffness = 100.0;      /* m^2/s^2: k */
static const double viscosity = 5.0;        /* kg/s: mu */
static const double gravity = 9.81;         /* m/s^2, towards y = 0 */
static const double reflection = 0.5;       /* of a wall */
static const double pi = 3.141592653589793; /* the nearest double */

/* pi h^5, pi h^8 */
static inline double pi_h5(void) { return pi * (support * support * support * support * support); }
static inline double pi_h8(void) {
    double h4 = support * support * support * support;
    return pi * (h4 * h4);
}

static inline double kernel_poly6(double r) {
    double d = support * support - r * r;
    return 4.0 / pi_h8() * (d * d * d);
}
static inline double kernel_spiky_slope(double r) {
    double d = support - r;
    return 30.0 / pi_h5() * (d * d);
}
static inline double kernel_viscosity_laplacian(double r) { return 40.0 / pi_h5() * (support - r); }

#endif
