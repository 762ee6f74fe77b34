def ToTensor():
    return None


def Compose(steps):
    return steps
