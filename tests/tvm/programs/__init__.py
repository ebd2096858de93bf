"""The programs: small, and mostly of integers, so that results compare exactly."""

from . import indices, pointwise, reductions, structures

PROGRAMS = [
    program
    for family in (pointwise, reductions, structures, indices)
    for program in family.PROGRAMS
]
