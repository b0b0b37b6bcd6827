"""Published kernel measurements, turned into throughput curves: what real attention kernels do to the straight line.

Source: AIConfigurator 0.12.0 (NVIDIA, Apache-2.0), `predict_prefill_latency(bs=1, isl, prefix)` from its measured
kernels, chunks of 8192 summed, without KV loading, decoding or scheduling gaps. Two decimals, as published here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HIT_RATES = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99])


@dataclass(frozen=True)
class KernelCurve:
    """relative: tps_miss(x)/tps0 at HIT_RATES. a and the root mean square errors [1] of line and hyperbola: x <= .9."""

    name: str
    input_tokens: int
    tps0: float
    relative: tuple[float, ...]
    a: float
    line_rmse: float
    hyperbola_rmse: float

    @property
    def tps_miss(self) -> np.ndarray:
        return self.tps0 * np.array([1.0, *self.relative])

    def __str__(self) -> str:
        return f"{self.name}, {self.input_tokens // 1024}K"


K = 1024
KERNEL_CURVES = [
    KernelCurve("Llama-3.1-70B, H100x8", 8 * K, 23_796, (0.99, 0.97, 0.94, 0.92, 0.85, 0.72, 0.27), 0.13, 0.019, 0.020),
    KernelCurve("Llama-3.1-70B, H100x8", 32 * K, 20_715, (0.96, 0.93, 0.9, 0.88, 0.85, 0.83, 0.6), 0.16, 0.004, 0.005),
    KernelCurve(
        "Llama-3.1-70B, H100x8", 64 * K, 17_653, (0.94, 0.89, 0.85, 0.81, 0.79, 0.77, 0.71), 0.235, 0.004, 0.001
    ),
    KernelCurve("Llama-3.1-70B, H100x8", 128 * K, 13_622, (0.92, 0.85, 0.78, 0.73, 0.71, 0.7, 0.67), 0.324, 0.008, 0.0),
    KernelCurve("Llama-3.1-8B, H100", 128 * K, 13_608, (0.88, 0.78, 0.7, 0.64, 0.61, 0.6, 0.59), 0.436, 0.017, 0.0),
    KernelCurve("Qwen3-32B-FP8, H200x4", 8 * K, 36_605, (0.96, 0.9, 0.86, 0.63, 0.5, 0.33, 0.08), 0.44, 0.063, 0.077),
    KernelCurve(
        "Qwen3-32B-FP8, H200x4", 32 * K, 26_469, (0.91, 0.86, 0.81, 0.76, 0.72, 0.59, 0.3), 0.305, 0.010, 0.010
    ),
    KernelCurve(
        "Qwen3-32B-FP8, H200x4", 64 * K, 19_094, (0.9, 0.82, 0.74, 0.69, 0.66, 0.64, 0.48), 0.379, 0.011, 0.005
    ),
    KernelCurve(
        "Qwen3-32B-FP8, H200x4", 128 * K, 12_263, (0.88, 0.78, 0.7, 0.63, 0.61, 0.59, 0.54), 0.438, 0.016, 0.001
    ),
    KernelCurve("Qwen3-32B-FP8, H200", 128 * K, 3_610, (0.86, 0.76, 0.67, 0.61, 0.58, 0.57, 0.54), 0.470, 0.019, 0.0),
    KernelCurve("DeepSeek-V3.2, H200x8", 32 * K, 9_046, (0.96, 0.93, 0.9, 0.87, 0.82, 0.75, 0.27), 0.169, 0.013, 0.014),
    KernelCurve(
        "DeepSeek-V3.2, H200x8", 128 * K, 6_117, (0.92, 0.85, 0.79, 0.73, 0.71, 0.7, 0.63), 0.326, 0.007, 0.002
    ),
    KernelCurve("GLM-5-NVFP4, B200x8", 8 * K, 27_325, (0.9, 0.84, 0.74, 0.52, 0.29, 0.15, 0.03), 0.64, 0.073, 0.103),
    KernelCurve("GLM-5-NVFP4, B200x8", 64 * K, 19_227, (0.93, 0.89, 0.83, 0.79, 0.77, 0.7, 0.32), 0.253, 0.010, 0.010),
    KernelCurve(
        "GLM-5-NVFP4, B200x8", 128 * K, 14_643, (0.91, 0.84, 0.77, 0.71, 0.68, 0.67, 0.52), 0.353, 0.007, 0.005
    ),
]
