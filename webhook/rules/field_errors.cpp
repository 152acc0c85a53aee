#include "webhook/rules/field_errors.h"
