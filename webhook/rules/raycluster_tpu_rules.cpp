#include "webhook/rules/raycluster_validator.h"
