#!/usr/bin/python3
"""Writes test/truth/terrain: rasters of elevation, and the statistics of each parcel that gdaldem, numpy and shapely compute from the rasters.

This script shares no code with the program. The output is committed, so CI does not run the script. Run from the project's root, on Debian:

    apt-get install -y python3-gdal python3-numpy python3-shapely gdal-bin
    /usr/bin/python3 scripts/terrain-truth.py

Ground model: three tiles with cells of 10 m in UTM zone 32. The tiles overlap and have different heights. The first tile, in order of name, that has a value
determines the height. The tiles have holes, and the south-eastern quarter has no tile. Surface model: two tiles with cells of 1 arc second, without gaps.
"""
import json
import subprocess
from pathlib import Path

import numpy as np
from osgeo import gdal, osr
from shapely.geometry import Point, shape
from shapely.ops import transform
from shapely.prepared import prep

gdal.UseExceptions()

OUT = Path("test/truth/terrain")
# Parameters of the synthetic region that has the parcels.
REGION = {"parcels": 2700, "seed": 8, "comuni": 6}
NO_DATA = -9999.0
CELL = 10.0
SECOND = 1 / 3600
OFF = 0.37
# Heights are multiples of this step. float32 represents such heights exactly, and their bits end in zeros, which compress well.
STEP = 1 / 32
OCTANTS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
# Semi-major axis and squared eccentricity of WGS 84.
A, E2 = 6378137.0, 0.0066943799901413165


def projection():
    degrees, metres = osr.SpatialReference(), osr.SpatialReference()
    degrees.ImportFromEPSG(4326)
    metres.ImportFromEPSG(32632)
    for each in (degrees, metres):
        each.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    to, back = osr.CoordinateTransformation(degrees, metres), osr.CoordinateTransformation(metres, degrees)
    return lambda x, y: to.TransformPoint(x, y)[:2], lambda x, y: back.TransformPoint(x, y)[:2], degrees.ExportToWkt(), metres.ExportToWkt()


FORWARD, BACK, DEGREES, METRES = projection()


def relief(x, y):
    """Returns heights in metres above sea level at eastings and northings: hills, a plain, a level area, and a cliff."""
    hilly = np.clip(0.55 + 1.5 * np.sin(x / 310 + 0.4) * np.cos(y / 270 + 1.1), 0, 1)
    hills = 55 * np.sin(x / 140 + y / 190) + 21 * np.cos(x / 66 - y / 71 + 2) + 7 * np.sin(x / 23 + 1) * np.cos(y / 27) + 1.5 * np.sin(x / 7.1 + y / 5.3)
    cliff = np.where(x + 0.6 * y - 3_711_300 > 0, 25.0, 0.0)
    return 240 + hilly * (90 + hills) + 1.6 * np.maximum(0, np.sin((x - y) / 160)) + cliff


def stepped(metres):
    return (np.round(metres / STEP) * STEP).astype(np.float32)


def write(name, cells, west, north, width, height, wkt, point=False, options=()):
    rows, columns = cells.shape
    path = str(OUT / name)
    dataset = gdal.GetDriverByName("GTiff").Create(path, columns, rows, 1, gdal.GDT_Float32, options=["COMPRESS=DEFLATE", "PREDICTOR=3", "ZLEVEL=9", *options])
    dataset.SetGeoTransform((west, width, 0, north, 0, -height))
    dataset.SetProjection(wkt)
    if point:
        dataset.SetMetadataItem("AREA_OR_POINT", "Point")
    else:
        dataset.GetRasterBand(1).SetNoDataValue(NO_DATA)
    dataset.GetRasterBand(1).WriteArray(cells)
    dataset.FlushCache()
    return path


def ground_tiles(west, south, east, north):
    """Writes the tiles of the ground model and returns their paths. Columns and rows are counted from the corner (west, north), a multiple of 10 m."""
    columns, rows = int((east - west) / CELL), int((north - south) / CELL)
    x, y = np.meshgrid(west + (np.arange(columns) + 0.5) * CELL, north - (np.arange(rows) + 0.5) * CELL)
    cells = stepped(relief(x, y))
    middle, centre = columns // 2, rows // 2
    # Areas without values: a lake, and a strip for which only the tile to the east has values.
    first = cells.copy()
    first[(x - x[0, middle // 2]) ** 2 + (y - y[centre // 2, 0]) ** 2 < 120**2] = NO_DATA
    first[8:20, middle - 7 : middle] = NO_DATA
    def tile(name, values, top, bottom, left, right, options=()):
        return write(name, values[top:bottom, left:right], west + left * CELL, north - top * CELL, CELL, CELL, METRES, options=options)
    return [
        tile("w46590_s10.tif", first, 0, centre, 0, middle),
        # The seven westernmost columns overlap the first tile and are 40 m higher. They are used only where the first tile has no value.
        tile("w46595_s10.tif", np.where(x < x[0, middle], cells + 40, cells).astype(np.float32), 0, centre, middle - 7, columns, ["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=48"]),
        # The five northernmost rows overlap both other tiles and are 25 m higher.
        tile("w46690_s10.tif", np.where(y > y[centre, 0], cells + 25, cells).astype(np.float32), centre - 5, rows, 0, middle, ["BLOCKYSIZE=11"]),
    ]


def surface_tiles(west, south, east, north):
    """Writes the tiles of the surface model, which adds trees to the ground, and returns their paths.

    The centres of cells are not on whole seconds, because borders of synthetic parcels are on whole seconds.
    """
    left, right = round(west / SECOND), round(east / SECOND)
    top, bottom = round(north / SECOND), round(south / SECOND)
    lon, lat = np.meshgrid((np.arange(left, right + 1) + OFF) * SECOND, (np.arange(top, bottom - 1, -1) + OFF) * SECOND)
    flat = np.array([FORWARD(a, b) for a, b in zip(lon.ravel(), lat.ravel())])
    x, y = flat[:, 0].reshape(lon.shape), flat[:, 1].reshape(lon.shape)
    trees = np.random.default_rng(8).integers(0, 12 * 32, lon.shape) / 32
    cells = stepped(relief(x, y) + trees)
    seam = lon.shape[1] * 3 // 4
    def tile(name, a, b):
        return write(name, cells[:, a:b], (left + a + OFF - 0.5) * SECOND, (top + OFF + 0.5) * SECOND, SECOND, SECOND, DEGREES, point=True, options=["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"])
    return [tile("Copernicus_DSM_COG_10_N41_00_E014_00_DEM.tif", 0, seam), tile("Copernicus_DSM_COG_10_N41_00_E015_00_DEM.tif", seam, lon.shape[1])]


def mosaic(paths):
    """Combines tiles into one raster. In an overlap, GDAL uses the last tile of the list, so the first tile by name comes last."""
    return gdal.BuildVRT("/vsimem/mosaic.vrt", sorted(paths, reverse=True), srcNodata=NO_DATA, VRTNodata=NO_DATA)


def gdaldem(dataset, kind, **options):
    return gdal.DEMProcessing("", dataset, kind, format="MEM", computeEdges=False, **options).ReadAsArray().astype(np.float64)


def shapes_of(dataset):
    return {
        "slope": gdaldem(dataset, "slope", alg="Horn"),
        "aspect": gdaldem(dataset, "aspect", alg="Horn"),
        "riley": gdaldem(dataset, "TRI", alg="Riley"),
        "wilson": gdaldem(dataset, "TRI", alg="Wilson"),
    }


def in_metres(cells, width, height):
    dataset = gdal.GetDriverByName("MEM").Create("", cells.shape[1], cells.shape[0], 1, gdal.GDT_Float32)
    dataset.SetGeoTransform((0, width, 0, 0, 0, -height))
    dataset.SetProjection(METRES)
    dataset.GetRasterBand(1).SetNoDataValue(NO_DATA)
    dataset.GetRasterBand(1).WriteArray(cells)
    return dataset


def shapes_in_degrees(cells, geotransform):
    """
    Returns slope, aspect and ruggedness of a raster in degrees.

    gdaldem uses one cell size for all cells, and ignores the cell size for aspects. Therefore gdaldem computes the slopes from three rows at a time, with
    the cell size of the middle row. numpy computes the aspects. Ruggedness is a difference of heights, which does not depend on the cell size.
    """
    rows = cells.shape[0]
    latitude = np.radians(geotransform[3] + (np.arange(rows) + 0.5) * geotransform[5])
    w2 = 1 - E2 * np.sin(latitude) ** 2
    width = np.radians(SECOND) * A * np.cos(latitude) / np.sqrt(w2)
    height = np.radians(SECOND) * A * (1 - E2) / w2**1.5
    found = shapes_of(in_metres(cells, 1, 1))
    for row in range(1, rows - 1):
        found["slope"][row] = gdaldem(in_metres(cells[row - 1 : row + 2], width[row], height[row]), "slope", alg="Horn")[1]
    z = cells.astype(np.float64)
    a, b, c, d, f, g, h, i = z[:-2, :-2], z[:-2, 1:-1], z[:-2, 2:], z[1:-1, :-2], z[1:-1, 2:], z[2:, :-2], z[2:, 1:-1], z[2:, 2:]
    east = (c + 2 * f + i - a - 2 * d - g) / width[1:-1, None]
    north = (a + 2 * b + c - g - 2 * h - i) / height[1:-1, None]
    found["aspect"][1:-1, 1:-1] = np.degrees(np.arctan2(-east, -north)) % 360
    return found


class Model:
    def __init__(self, dataset, in_degrees):
        self.west, self.width, _, self.north, _, height = self.geotransform = dataset.GetGeoTransform()
        self.height = -height
        self.cells = dataset.ReadAsArray()
        self.shapes = shapes_in_degrees(self.cells, self.geotransform) if in_degrees else shapes_of(dataset)

    def inside(self, polygon, point):
        """Returns rows and columns of the cells whose centre is in the polygon, or else of the cell that contains the point."""
        left, bottom, right, top = polygon.bounds
        prepared = prep(polygon)
        found = [
            (row, column)
            for row in range(int((self.north - top) / self.height) - 1, int((self.north - bottom) / self.height) + 2)
            for column in range(int((left - self.west) / self.width) - 1, int((right - self.west) / self.width) + 2)
            if prepared.contains(Point(self.west + (column + 0.5) * self.width, self.north - (row + 0.5) * self.height))
        ]
        return found or [(int((self.north - point[1]) / self.height), int((point[0] - self.west) / self.width))]

    def of(self, polygon, point):
        """Returns the statistics of a parcel, or None if the model lacks one of the cells."""
        where = tuple(np.array(self.inside(polygon, point)).T)
        elevations = self.cells[where].astype(np.float64)
        if (elevations == NO_DATA).any():
            return None
        shapes = {name: values[where] for name, values in self.shapes.items()}
        known = shapes["slope"] != NO_DATA
        row = [len(elevations), elevations.min(), elevations.max(), elevations.mean(), elevations.std()]
        if not known.any():
            return [*row, None, None, None, None, None]
        slope, aspect = shapes["slope"][known], shapes["aspect"][known]
        steep = slope >= 1
        if (~steep).sum() * 2 > len(slope):
            facing = "flat"
        else:
            counts = np.bincount(((aspect[steep] + 22.5) // 45).astype(int) % 8, minlength=8)
            facing = OCTANTS[int(counts.argmax())]
        return [*row, slope.mean(), slope.max(), shapes["riley"][known].mean(), shapes["wilson"][known].mean(), facing]


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    parcels = json.loads(subprocess.run(["node", "--import", "tsx", "scripts/terrain-parcels.ts", *map(str, REGION.values())], check=True, capture_output=True).stdout)["features"]
    in_degrees = [shape(parcel["geometry"]) for parcel in parcels]
    projected = [transform(lambda x, y, z=None: tuple(np.array([FORWARD(a, b) for a, b in zip(x, y)]).T), polygon) for polygon in in_degrees]
    def bounds(polygons):
        corners = np.array([polygon.bounds for polygon in polygons])
        return [*corners[:, :2].min(axis=0), *corners[:, 2:].max(axis=0)]
    west, south, east, north = bounds(projected)
    snapped = [np.floor(west / CELL) * CELL - 30, np.floor(south / CELL) * CELL - 30, np.ceil(east / CELL) * CELL + 30, np.ceil(north / CELL) * CELL + 30]
    ground = Model(mosaic(ground_tiles(*snapped)), False)
    west, south, east, north = bounds(in_degrees)
    surface = Model(mosaic(surface_tiles(west - 3 * SECOND, south - 3 * SECOND, east + 3 * SECOND, north + 3 * SECOND)), True)
    lines = ["reference\tmodel\tcells\televation_min\televation_max\televation_mean\televation_std\tslope_mean\tslope_max\truggedness_index\ttri_mean\taspect_predominant"]
    for parcel, degrees, metres in zip(parcels, in_degrees, projected):
        point = degrees.representative_point().coords[0]
        model, row = "ground", ground.of(metres, FORWARD(*point))
        if row is None:
            model, row = "surface", surface.of(degrees, point)
        values = ["" if value is None else value if isinstance(value, (int, str)) else f"{value:.5f}" for value in row]
        lines.append("\t".join([parcel["properties"]["reference"], model, *map(str, values)]))
    (OUT / "terrain.tsv").write_text("\n".join(lines) + "\n")
    (OUT / "region.json").write_text(json.dumps(REGION) + "\n")
    print(f"{len(lines) - 1} parcels")


main()
