internal import CLibUV
