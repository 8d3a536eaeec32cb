import { defineSource } from '../../pipelines/kit/source.ts';
import { manifest } from './manifest.ts';
import { read } from './read.ts';
import { recognise } from './recognise.ts';
import { tables } from './tables.ts';

export default defineSource({ manifest, tables, recognise, read });
