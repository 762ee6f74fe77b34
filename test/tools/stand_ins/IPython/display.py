def Code(data, language=None):
    del language
    return data


HTML = Code
