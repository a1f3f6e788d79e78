#include "waybill.h"
